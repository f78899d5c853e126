"""Doors through which memory is read and written: lines of the random programs in test_pending_programs.py.

``{t}`` is what is written, ``{s}`` and ``{r}`` are arrays of its shape, ``{w}`` is an array of the program's own or a pending value.
Lines that NumPy refuses for the arrays that are drawn are left out of a program.
"""

from __future__ import annotations

from arraydispatch._core import handles

PENDING = (
    "np.where({s} > 0, {s}, 0.25)", "{s} * 2 + {r}", "np.clip({s}, -2, 2)", "{s} - {r}", "np.maximum({s}, {r})", "-{s}", "{s}.astype('f4')",
    "{s}[1:] + {s}[:-1]", "{s} + {s}[0:1]", "({s} > {r})", "{s} * 0.5", "np.roll({s}, 3) + 1", "{s} + np.ones(4)[:1]", "{s}.reshape(2, -1) * 2",
    "({s}.reshape(4, -1) + 1).sum(axis=-1)", "1.5 - {s}[::-1]", "{s} % 4", "{s}.astype('i4') + 1", "{s} + 0.5j", "{s}.real + 1", "({s} + 1).max()",
    "np.stack([{s}, {r}]) + 1", "{s}[[1, 3, 5]] + 1", "{s}[{s} > 0] + 1", "np.outer({s}, {r}[:3]) + 1",
)  # fmt: skip
"""Values of what others may write while they are pending."""
PENDING_ROUNDED = (
    "abs({s}) ** 0.5",
    "np.sqrt(np.abs({s})) + 1",
    "{s} * {s}",
    "{s} / 3",
    "np.exp(-abs({s}))",
    "({s} * {r}).mean()",
)

MADE = "make({n})", "make({n})", "make({n})", "make({n}, 'f4')", "make({n}, 'i8')", "make({n}, complex)"
WINDOWS = (
    "mapped(make({n}))", "np.frombuffer(bytearray(make({n}).tobytes()))", "fields(make({n}))['f']", "np.ctypeslib.as_array((ctypes.c_double * N)(*range(N)))",
    "np.asarray(array.array('d', range(N)))", "np.asarray(memoryview(bytearray(8 * N)).cast('d'))", "np.array(make({n}), copy=False)", "np.ma.getdata(np.ma.array(make({n})))",
)  # fmt: skip
"""Arrays on memory that is not theirs."""
VIEWS = (
    "{t}[::2]", "{t}[::-1]", "{t}[4:]", "{t}[:-4]", "{t}.reshape(2, -1)[0]", "{t}.reshape(-1, 2)[:, 1]", "{t}[...]", "{t}.T", "{t}[None][0]", "{t}.real",
    "{t}.imag", "np.einsum('i->i', {t})", "np.split({t}, 2)[0]", "{t}.reshape(4, -1).T.diagonal()", "np.ravel({t})", "np.moveaxis({t}.reshape(2, -1), 0, 1)[:, 0]",
    "np.array({t}, copy=None)", "np.require({t}, requirements='W')", "copy.copy({t})", "np.lib.stride_tricks.as_strided({t}, (len({t}) // 2,), (2 * {t}.strides[0],))",
    "{t}.view()", "np.unstack({t}.reshape(2, -1))[1]", "np.flip({t})", "np.squeeze({t}[:, None])", "{t}.__getitem__(slice(2, 20))",
)  # fmt: skip

OUTS = (
    "np.cumsum({s}, 0, None, {t})", "np.clip({s}, -1, 1, {t})", "np.sum({s}[None], 0, None, {t})", "np.max({s}[None], 0, {t})", "np.fix({s}, {t})",
    "np.ptp(np.stack([{s}, {r}]), 0, {t})", "np.median(np.stack([{s}, {r}]), 0, {t})", "np.quantile({s}[None], 0.5, 0, {t})",
    "np.take({s}, np.arange(len({s}))[::-1], 0, {t})", "np.compress(np.ones(len({s}), bool), {s}, 0, {t})", "np.choose(np.zeros(len({s}), int), [{s}, {r}], {t})",
    "np.concatenate([{s}[:5].copy(), {r}[5:].copy()], 0, {t})", "np.add({s}, 1, {t})", "np.multiply({s}, 0.5, out={t})", "np.maximum({s}, {r}, {t}, where={s} > 0)",
    "np.add.accumulate({s}, 0, None, {t})", "np.add.reduce(np.stack([{s}, {r}]), 0, None, {t})", "np.add.reduceat({s}, np.arange(len({s})), 0, None, {t})",
    "np.einsum('i->i', {s}, out={t})", "np.nancumsum({s}, 0, None, {t})", "np.nansum({s}[None], 0, None, {t})", "np.cumulative_sum({s}, axis=0, out={t})",
    "np.outer(np.ones(1), {s}, {t}[None])", "{s}.cumsum(0, None, {t})", "{s}.clip(-2, 2, {t})", "{s}[None].sum(0, None, {t})", "{s}[None].max(0, {t})",
    "{s}.take(np.arange(len({s})), 0, {t})", "{s}.compress(np.ones(len({s}), bool), 0, {t})", "np.stack([{s}.copy()], 0, {t}[None])", "np.cumsum({s}, out={t})",
    "np.dot(np.ones((1, 1)), {s}[None], {t}[None])", "np.matmul(np.ones((1, 1)), {s}[None], {t}[None])", "np.matvec(np.eye(len({s})), {s}, {t})",
    "np.divmod({s}, 4.0, {t}, np.empty(len({s})))", "np.modf({s}, np.empty(len({s})), {t})", "np.frexp({s}, {t}, np.empty(len({s}), 'i4'))",
    "np.add({s}, {r}, {t}, where=[True])", "np.subtract({s}, {r}, ({t},))", "np.add({s}, {r}, out=({t},), casting='unsafe')", "np.negative({s}, {t})",
    "np.add({t}[:-1], {t}[1:], {t}[1:])", "np.isfinite({s}, {t})", "np.positive({s}, out={t}[::-1])", "np.ufunc.reduce(np.add, {s}[None], 0, None, {t})",
    "np.minimum.reduce([{s}, {r}], out={t})", "np.ufunc.__call__(np.add, {s}, 2, {t})", "np.concat([{s}.copy()], out={t}, casting='unsafe')",
    "np.nanmax({s}[None], 0, {t})", "np.prod({s}[None], 0, None, {t})", "np.amin({s}[None], axis=0, out={t})", "operator.iadd({t}, {s})",
    "scipy.ndimage.minimum_filter1d({s}, 3, output={t})", "scipy.ndimage.maximum_filter1d({s}, 3, output={t})",
)  # fmt: skip
OUTS_ROUNDED = (
    "np.round({s}, 1, {t})", "np.around({s}, 1, {t})", "np.mean(np.stack([{s}, {r}, {r}]), 0, None, {t})", "np.std(np.stack([{s}, {r}]), 0, None, {t})",
    "np.multiply({s}, {r}, out={t})", "{s}.round(1, {t})", "np.sin({s}, {t})", "np.true_divide({s}, 3, {t})", "np.var({s}[None] + 1, 0, None, {t})",
    "np.nanstd(np.stack([{s}, {r}]), 0, None, {t})", "{s}[None].mean(0, None, {t})", "scipy.special.expit({s}, {t})", "scipy.special.expit({s}, out={t})",
    "scipy.ndimage.uniform_filter1d({s}, 3, output={t})", "np.fft.fft({s}, out={t})", "np.multiply.accumulate({s}, 0, None, {t})", "np.hypot({s}, {r}, {t})",
)  # fmt: skip

IN_PLACE = (  # what overwrite_input leaves is not NumPy's to say
    "np.median({t}, None, None, True); {t}.fill(1.5)", "np.median({t}, overwrite_input=True); {t}.fill(1.5)", "np.percentile({t}, [25, 50], None, None, True); {t}.fill(1.5)",
    "np.quantile({t}, 0.5, overwrite_input=True); {t}.fill(1.5)", "np.nanmedian({t}, None, None, True); {t}.fill(1.5)", "np.nanpercentile({t}, 30, None, None, True); {t}.fill(1.5)",
    "np.nan_to_num({t}, False)", "np.add.at({t}, [0, 1, 1], 0.5)", "np.add.at({t}, np.arange(len({s})), {s})", "np.maximum.at({t}, [2, 3], 4.5)",
    "np.negative.at({t}, [1, 5])", "np.add.at({t}, {s} > 0, 1)", "np.ufunc.at(np.subtract, {t}, slice(2, 5), 1)", "np.add.at({t}, ([1, 2],), [1, 2])",
    "np.copyto({t}, {s})", "np.copyto({t}, {s}, where={s} > 1)", "np.copyto({t}, 2, 'unsafe')", "np.put({t}, [1, 2, 3], [0.25, 9.0])", "{t}.put([1, -1], 7.5)",
    "np.put({t}, [1, 99], 4, mode='clip')", "{t}.put(range(30), {s}, 'wrap')", "np.place({t}, {s} > 1, [1.0, 2.0])", "np.putmask({t}, {s} > 1, {s})",
    "np.put_along_axis({t}, np.array([3, 4]), 8.0, 0)", "np.fill_diagonal({t}.reshape(4, -1), 1.5)", "np.fill_diagonal({t}.reshape(-1, 2), np.copy({s}), wrap=True)", "{t}.fill(2.5)",
    "{t}.sort()", "{t}.reshape(4, -1).sort(0)", "{t}.partition(5); {t}.sort()", "{t}.byteswap(True).byteswap(True)", "{t}.setfield(2.25, {t}.dtype)", "np.ndarray.sort({t})",
    "np.ndarray.fill({t}, 3)", "np.ndarray.__setitem__({t}, 3, 4)", "np.ndarray.__iadd__({t}, {s})", "operator.setitem({t}, slice(2, 6), 5)", "{t}.flat[2:9] = 3.5",
    "{t}.flat = np.copy({s})", "{t}.flat[[1, 3]] = 9", "f = {t}.flat; next(f); f[2] = 5; {w}.sum()", "{t}.real = {s}", "{t}.imag = {s}", "{t}.real[2:] += 1", "np.real({t})[1:3] = 4",
    "{t} += {s}", "{t} -= {t}[::-1]", "{t}[1:] += {t}[:-1]", "{t}[2:] *= 0.5", "{t}[{s} > 0] = 1.0", "{t}[{s} > 0] += {s}[{s} > 0]", "{t}[np.nonzero({s} > 0)] = 2",
    "{t}[[1, 2, 2]] += 1", "{t}[1:5], {t}[5:9] = {t}[5:9].copy(), {t}[1:5].copy()", "{t}[...] = {s}[::-1]", "{t}[:] = {w}.ravel()[0]",
    "{t} %= 4", "{t} //= 2", "{t} <<= 1", "{t} ^= 3", "{t}[()] = {s}", "{t}[3] = {s}[4]", "{t}[None][:, 2:4] = 5", "{t}[np.int64(3)] += 1", "{t}[np.array(5)] = 6",
    "[part.__iadd__(1) for part in {t}.reshape(4, -1)]", "np.apply_along_axis(lambda row: row.__imul__(0.5), 0, {t})", "np.flip({t})[1:3] = 0.5",
    "np.broadcast_arrays({t}, 1.0)[0][...]", "np.split({t}, 2)[1][:3] = 6.0", "np.atleast_2d({t})[0, :3] = 6.5", "np.ravel({t})[:3] = 6.25", "{t}.T[...] = 2.75",
    "{t}.reshape(2, -1).T[1:3] = 4.25", "{t}.reshape(4, -1)[:, 1] = 3", "np.einsum('i->i', {t})[2:4] = 7", "np.swapaxes({t}[None], 0, 1)[3] = 2",
    "{t}.shape = (2, -1); {t}[1] += 1; {t}.shape = (-1,)", "y = {t}.view(); y.shape = (2, -1); y[1] = 3", "y = {t}.view(); y.setflags(write=False); {t}[1] = 3; y.sum()",
    "y = {s}.copy(); p = y * 2; y.resize(len(y) + 4); y[-1] = 5; look(p), look(y)", "y = {s}.copy(); p = y + 1; y.resize(4); y[:] = 5; look(p)", "y = make(3); p = y * 2; y.dtype = 'i8'; y[:] = 0; look(p)",
    "[{t}.__setitem__(i, x) for i, x in enumerate({s}[:3].tolist())]", "for x in {t}.reshape(4, -1): x[1:] -= 1", "for i in range(3): {t}[i] += {t}[i + 1]", "np.vectorize(lambda i: {t}.__setitem__(i, 2) or i)(np.arange(3))",
    "[None for x in [{t}] for x[2:4] in [7]]", "{t}[2:4], y = 5, {w} ; look(y)", "late = {t} + 1; {t}.fill(0); look(late)", "late = {t} * 2; {t}[-1] = 3; look(late)",
    "late = [{t} + i for i in range(3)]; {t} += 1; look(late[0] + late[2])", "late = ({t} + 1)[::2]; {t}[...] = 4; late += 1; look(late)", "late = {t} - 1; late[2:5] = {t}[2:5]; {t}[3] = 9; look(late)",
    "late = {t}.copy() if {t}[0] > 0 else {t} + 1; {t} *= 0.5; look(late)", "late = np.where({s} > 0, {t}, {s}); {t}[:4] = late[:4]; {s}[...]; look(late)",
    "try: np.add({t}, [1, 2, 3, 4, 5, 6, 7], {t})\nexcept ValueError: {t}[1] = 3", "try: {t}[[1, 9999]] = 3\nexcept IndexError: {t} += 1", "try: {t}[...] = 'x'\nexcept ValueError: pass",
    "np.ma.array({t}, mask={s} > 0, copy=False)[1:4] = 5", "np.ma.array({t}, copy=False)[...] *= 0.5", "np.ma.array({t}, mask={s} > 1, copy=False).data[2] = 3", "np.asmatrix({t})[0, :3] = 2",
    "run({t}.fill, 3)", "run(lambda: {t}.__iadd__({s}))", "run(np.copyto, {t}, {s})", "run({t}.sort)", "run(lambda: look({w}))",
    "scipy.fft.fft({t}, overwrite_x=True); {t}.fill(2)", "scipy.linalg.solve(4 * np.eye(4), {t}[:4], overwrite_b=True)[1] = 2.5", "scipy.linalg.solve(4 * np.eye(4), {t}[::2][:4], overwrite_b=True)[1] = 2.5", "scipy.linalg.solve(4 * np.eye(4), {t}[:8].reshape(4, 2), overwrite_b=True)[1] = 2.5",
    "scipy.linalg.solve_banded((0, 0), np.ones((1, len({t}))), {t}, overwrite_b=True)[1:3] = 2.5", "scipy.linalg.solve_triangular(np.eye(4), {t}[:4], overwrite_b=True)[2] = 3.5",
)  # fmt: skip
IN_PLACE_ROUNDED = (
    "{t}[:5] = {w}.ravel()[:5]",  # NumPy reads elements that it has just written where both are parts of one array with other strides
    "{t} /= 3", "{t} **= 2", "{t} *= {s}", "np.multiply.at({t}, [1, 1, 2], 0.3)", "{t}.partition(5)", "{t} = np.linspace(0, 1, len({t}))", "{t}[:] = {s} @ {r}",
    "scipy.linalg.lu_factor({t}[:16].reshape(4, 4).T, overwrite_a=True)", "scipy.linalg.solve({s}[:16].reshape(4, 4) + 9 * np.eye(4), {t}[:4], overwrite_b=True)",
)  # fmt: skip

MEMORY = (
    "for x in np.nditer({t}[3:9], op_flags=['readwrite']): x[...] = x * 0.5", "for x, y in np.nditer([{t}[:6], {s}[:6]], [], [['writeonly'], ['readonly']]): x[...] = y",
    "for x in np.nditer(few({t}), ['external_loop', 'buffered'], [['readwrite']], buffersize=5): x[...] = x + 1", "for x in np.nditer(few({t}), ['buffered'], [['readwrite']], ['f4'], casting='same_kind'): x[...] = x + 1",
    "with np.nditer([few({s}), few({t})], op_flags=[['readonly'], ['writeonly']]) as it:\n    for x, y in it: y[...] = x + 2", "it = np.nditer({t}, op_flags=['readwrite']); it[0] = 5; it.iternext(); it[0] = 6; it.close()",
    "it = np.nditer([{s}, {t}], ['external_loop'], [['readonly'], ['readwrite', 'copy']]); np.add(it[0], 1, it[1]); it.close()", "it = np.nditer({t}, op_flags=['readwrite']); it.operands[0][2] = 4; it.close()",
    "for i, x in np.ndenumerate({t}[:4]): {t}[i] = x + 1", "for x in np.nested_iters([{t}[:8].reshape(2, 4)], [[0], [1]], op_flags=['readwrite'])[1]: x[...] = 3",
    "ctypes.memset({t}.ctypes.data, 0, 24)", "ctypes.memmove({t}.ctypes.data, {s}.ctypes.data, 32)", "{t}.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[2] = 3.5", "(ctypes.c_double * 3).from_buffer({t})[1] = 2.5",
    "np.ctypeslib.as_array({t}.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), (3,))[:] = 5", "np.ctypeslib.as_ctypes({t})[2] = 4", "memoryview({t}).cast('B')[8:16] = bytes(8)", "memoryview({t})[1:4] = memoryview(np.ones(3))",
    "{t}.data[3] = 2.5", "struct.pack_into('d', {t}, 16, 3.25)", "io.BytesIO(bytes(32)).readinto({t})", "io.BytesIO(bytes(32)).readinto({t}.data)", "{t}.data.cast('B')[:8] = {s}.data.cast('B')[8:16]",
    "np.asarray({t})[2:5] = 1.25", "np.asarray({t}).sort()", "np.asanyarray({t})[2] = 3", "np.ascontiguousarray({t})[2] = 3", "{t}.__array__()[:3] = 7", "np.array({t}, copy=None)[1:3] = 8", "np.array({t}, copy=False, subok=True)[1] = 6",
    "np.frombuffer({t})[4:6] = 1.5", "np.frombuffer({t}.data, {t}.dtype)[1:3] = 1.5", "np.frombuffer(memoryview({t}), count=3)[:] = 2", "np.ndarray((3,), {t}.dtype, {t})[...] = 2.75", "np.from_dlpack({t})[2:4]", "np.lib.stride_tricks.as_strided({t}, (3,), (16,))[:] = 7.25",
    "np.lib.stride_tricks.sliding_window_view({t}, 3, writeable=True)[2] = 1.75", "{t}.view(np.recarray)[:3] = 2.0", "{t}.view([('f', float)])['f'][:3] = 4.0", "{t}.view([('f', {t}.dtype)])[2] = (5,)", "{t}.view('u1')[:8] = 0", "{t}.view(type('Sub', (np.ndarray,), {{}}))[1] = 5",
    "np.random.default_rng(5).shuffle({t})", "np.random.RandomState(5).shuffle({t})", "np.random.seed(5); np.random.shuffle({t})", "random.Random(3).shuffle(few({t}))",
    "pickle.loads(pickle.dumps({t}, 5, buffer_callback=(b := []).append), buffers=b)[:3]", "copy.deepcopy({t})[:] = 5", "pickle.loads(pickle.dumps({t}))[:] = 5",
    "np.lib.recfunctions.unstructured_to_structured({t}[:4].reshape(2, 2), copy=False)", "np.rec.fromarrays([{t}, {s}])['f0'][:] = 1", "y = fields({t}); y['f'] += 1; {t}[...] = y['f']",
    "scipy.linalg.blas.daxpy({s}, {t})", "scipy.linalg.blas.dscal(0.5, {t})", "scipy.linalg.blas.dscal(0.5, {t}[::2])", "scipy.linalg.blas.dswap({t}[:4], {t}[4:8])", "scipy.linalg.blas.dcopy({s}, {t})",
    "with tempfile.TemporaryFile() as f: os.pwrite(f.fileno(), {s}, 0); os.preadv(f.fileno(), [{t}], 0)", "with tempfile.TemporaryFile() as f: {s}.tofile(f); f.seek(0); f.readinto({t})",
)  # fmt: skip
"""What lets memory out, or writes it behind NumPy's functions."""
if not handles.compiled:  # then code in C sees no array's memory but by ``x.data``
    _SEEN = (
        "memoryview({t})", ".from_buffer({t})", "np.frombuffer({t})", "struct.pack_into('d', {t}", ".readinto({t})", ", [{t}], 0)",
    )  # fmt: skip
    MEMORY = tuple(line for line in MEMORY if not any(seen in line for seen in _SEEN))
MEMORY_ROUNDED = (
    "{t}.view('i8')[:4] ^= 1", "np.random.default_rng(5).random(out={t})", "np.random.default_rng(5).standard_normal(None, float, {t})", "np.random.default_rng(5).permuted({s}, axis=0, out={t})",
    "np.random.default_rng(5).standard_exponential(None, float, 'zig', {t})", "np.random.default_rng(5).standard_gamma(2.0, out={t})", "np.random.default_rng(5).random(dtype='f4', out={t})",
)  # fmt: skip
