"""View or copy, strides, flags, base: after each program, as NumPy has them on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.api import creation
from tests import differential
from tests.rows import each

VIEWS: list[str] = [
    "v=np.einsum('ii->i', s33); v[...]=7",
    "v=np.einsum('ij->ji', x); v[0]=7",
    "v=np.einsum('ijk->kji', t); v[0]=7",
    "v=np.einsum('ij', x); v[0]=3",
    "v=np.einsum('ji', x); v[0]=3",
    "v=np.einsum('...ii->...i', new(np.arange(18.).reshape(2,3,3)))",
    "v=np.einsum('iij->ji', new(np.arange(18.).reshape(3,3,2)))",
    "v=np.einsum(s33,[0,0],[0]); v[0]=5",
    "v=np.einsum('ii', s33)",
    "v=np.einsum('ij->i', x)",
    "v=np.einsum('ij->ij', x); v[0]=3",
    "v=np.einsum('ii->i', s33, optimize=True); v[0]=4",
    "v=np.einsum('ij->ji', x, out=new(np.zeros((4,3))))",
    "v=np.trim_zeros(i); v[0]=9",
    "v=np.trim_zeros(new([0.,0,1,2,0])); v[0]=9",
    "v=np.trim_zeros(new([0.,0,1,2,0]),'b')",
    "v=np.trim_zeros(new([[0,0,0],[0,1,0]]))",
    "a,b2=np.meshgrid(i,i); a[0]=3",
    "a,b2=np.meshgrid(i,new([1,2]),copy=False); r=i*1",
    "a,b2=np.meshgrid(i,new([1,2]),copy=False,sparse=True); a[0,0]=5",
    "a,b2=np.meshgrid(i,new([1,2]),copy=True,sparse=True); a[0,0]=5",
    "a,b2=np.meshgrid(i,new([1,2]),copy=False,indexing='ij')",
    "a,b2=np.broadcast_arrays(i,new([[1],[2]]))",
    "a,b2=np.broadcast_arrays(x,x)",
    "v=np.broadcast_to(i,(2,6))",
    "v=np.broadcast_to(i,(2,6)); v[0]=1",
    "v=np.broadcast_to(z,(2,6))",
    "v=np.broadcast_to(x,(3,4))",
    "v=np.atleast_1d(z); v[0]=1",
    "v=np.atleast_2d(i); v[0]=1",
    "v=np.atleast_3d(x); v[0]=1",
    "v,w=np.atleast_1d(z,i)",
    "v=np.atleast_1d(i); r=v is i",
    "v=np.expand_dims(x,(0,2)); v[0,0]=1",
    "v=np.expand_dims(x,5)",
    "v=np.moveaxis(t,0,-1); v[0]=1",
    "v=np.rollaxis(t,2); v[0]=1",
    "v=np.rollaxis(t,2,1)",
    "v=np.split(x,2,axis=1); v[0][...]=1",
    "v=np.array_split(x,3,axis=1)",
    "v=np.hsplit(x,2)",
    "v=np.vsplit(x,3)",
    "v=np.dsplit(t,2)",
    "v=np.split(i,[2,4])",
    "v=np.split(i,4)",
    "v=np.diagonal(x)",
    "v=np.diagonal(x,1); v[0]=3",
    "v=x.diagonal()",
    "v=np.diagonal(t,0,1,2)",
    "v=np.diag(x)",
    "v=np.diag(s33); v[0]=1",
    "v=np.diag(i)",
    "v=np.ravel(x); v[0]=1",
    "v=np.ravel(x.T)",
    "v=np.ravel(x.T,order='F'); v[0]=1",
    "v=np.ravel(x,order='F'); v[0]=1",
    "v=np.ravel(x.T,order='K'); v[0]=1",
    "v=np.ravel(x.T,order='A'); v[0]=1",
    "v=x[:, ::2].ravel()",
    "v=x[:, ::-1].ravel('K')",
    "v=x.ravel(order='Z')",
    "v=np.real(c); v[0]=1",
    "v=np.imag(c); v[0]=1",
    "v=np.real(x); r=v is x",
    "v=np.imag(x)",
    "v=c.real",
    "v=c.imag",
    "v=x.real; r=v is x",
    "v=x.imag",
    "v=c.T.real",
    "v=np.lib.stride_tricks.sliding_window_view(i,3)",
    "v=np.lib.stride_tricks.sliding_window_view(i,3,writeable=True)",
    "v=np.lib.stride_tricks.sliding_window_view(i,3,writeable=True); v[0]=9",
    "v=np.lib.stride_tricks.sliding_window_view(x,(2,2))",
    "v=np.lib.stride_tricks.sliding_window_view(x,2,axis=1)",
    "v=np.lib.stride_tricks.sliding_window_view(i,9)",
    "v=np.shares_memory(x,x[1:]); w=np.may_share_memory(x[0],x[1]); w2=np.shares_memory(x[::2],x[1::2]); w3=np.may_share_memory(x[::2],x[1::2])",
    "v=np.shares_memory(x,x.copy()); w=np.may_share_memory(x,i)",
    "v=x.T.base is x; w=x[1:][1:].base is x; w2=x.reshape(4,3).base is x; w3=x.base is None",
    "v=x.copy('F')",
    "v=x.copy('K')",
    "v=x.T.copy('K')",
    "v=x.T.copy()",
    "v=x.T.copy('A')",
    "v=np.copy(x.T)",
    "v=np.copy(x,order='F')",
    "v=np.copy(x.T,order='C')",
    "v=x.astype('f4',order='F')",
    "v=c.astype('f8'); v[0]=9; w=c.astype('f4'); w[0]=9; w2=c.astype('c16'); w2[0]=9; w3=x.astype('c16'); w3[0]=1j",
    "v=x.T.astype('f4')",
    "v=x.T.astype('f4',order='C')",
    "v=x.T.astype('f8',copy=False); r=v is x",
    "v=x.astype('f8',copy=False); r=v is x",
    "v=x.astype('f8',order='F',copy=False); r=v is x",
    "v=x.reshape(4,3,order='F'); v[0]=1",
    "v=x.T.reshape(3,4,order='F'); v[0]=1",
    "v=x.reshape(2,6,order='A')",
    "v=x.T.reshape(2,6,order='A'); v[0]=1",
    "v=np.reshape(x,(4,3),copy=True); v[0]=1",
    "v=np.reshape(x,(4,3),copy=False); v[0]=1",
    "v=np.reshape(x.T,-1,copy=False)",
    "v=x.reshape(-1); v[0]=1",
    "v=x.reshape(5,-1)",
    "v=x.reshape(());",
    "v=one.reshape(()); v[()]=1",
    "v=x.reshape(-1,-1)",
    "v=x.reshape((2,-1)); w=x.reshape([2,6]); w2=x.reshape(2,2,3)",
    "v=x.flatten('F'); w=x.T.flatten('K'); w2=x.T.flatten('A')",
    "v=np.zeros_like(x.T); w=np.ones_like(x.T); w2=np.empty_like(x.T);w2[...]=0; w3=np.full_like(x.T,2)",
    "v=np.zeros_like(x,order='F')",
    "v=np.zeros_like(x.T,order='C')",
    "v=np.zeros_like(t.transpose(1,0,2))",
    "v=x.T+1",
    "v=x.T+x.T",
    "v=x.T*2.0; w=-x.T",
    "v=x.T+x.reshape(4,3)",
    "v=t.transpose(1,2,0)+1",
    "v=x[:, ::-1]+1",
    "v=x[::-1]+0",
    "v=np.swapaxes(x,0,1); v[0]=1",
    "v=x.swapaxes(0,1); w=x.transpose(); w2=x.transpose(1,0); w3=x.transpose((1,0)); w4=x.transpose(None)",
    "v=np.transpose(x); v[0]=1",
    "v=x.transpose(0,0)",
    "v=x.mT; v[0]=1",
    "v=i.mT",
    "v=x.squeeze(); w=x[None].squeeze(0); w[0]=1",
    "v=x.squeeze(0)",
    "v=one.squeeze(); v[...]=1",
    "v=np.flip(x); w=np.fliplr(x); w2=np.flipud(x); w[0]=1",
    "v=np.rot90(x); v[0]=1",
    "v=np.rot90(x,2); w=np.rot90(x,3); w2=np.rot90(x,4)",
    "v=x[...]; v[0]=1",
    "v=x[()]; v[0]=1",
    "v=x[None]; w=x[:,None]; w2=x[...,None]; w2[0]=3",
    "v=x[0,...]; w=x[0,0,...]; w[...]=4",
    "v=z[...]; v[...]=1",
    "v=z[()];",
    "v=x.view(); v[0]=1",
    "v=x.view('i8'); w=x.view('f4'); w2=x.view(complex)",
    "v=i.view('u8'); v[0]=3",
    "v=x.view('c8')",
    "v=u.view('i4'); v[0]=1",
    "v=x[:, ::2].view('f4')",
    "v=x.T.view('f4')",
    "v=x.T.view('i8')",
    "v=z.view('i8')",
    "v=z.view('i4')",
    "v=b.view('u1'); v[0]=0",
    "v=np.resize(x,(2,2)); w=np.resize(i,9)",
    "v=np.unstack(x); v[0][...]=3",
    "v=np.matrix_transpose(x); v[0]=1",
    "v=np.linalg.matrix_transpose(x); w=np.linalg.diagonal(x); w2=np.permute_dims(t,(2,0,1))",
    "v=np.triu(x); w=np.tril(x)",
    "v=x.conj(); r=v is x",
    "v=c.conj(); v[0]=1",
    "v=np.nan_to_num(x,copy=False); r=v is x",
    "v=np.nan_to_num(new([1.,np.nan]),copy=False)",
    "v=x[1:2]; w=v.flags.c_contiguous; f=x[:,1:2]; g=x[0:0]; h=x[:,0:0]",
    "v=x.flags.owndata; w=x[1:].flags.owndata; w2=x.flags.aligned; w3=x.flags['C']; w4=x.flags.forc; w5=x.flags.contiguous; w6=x.flags.num; w7=x.flags.behaved; w8=x.flags.carray; w9=x.flags.fnc; w10=x.flags.writebackifcopy",
    "x.flags.writeable=False; x[0]=1",
    "x.flags['W']=False; x[0]=1",
    "x.flags.writeable=False; v=x[1:]; w=x.copy(); w2=x.T; w3=x.reshape(-1)",
    "x.setflags(write=False); x.setflags(write=True); x[0]=1",
    "v=np.broadcast_to(i,(2,6)); v.flags.writeable=True",
    "v=np.diagonal(x); v.setflags(write=True)",
    "x.setflags(uic=True)",
    "x.setflags(align=False); w=x.flags.aligned",
    "x.flags.owndata=False",
    "x.shape=(4,3); v=x*1",
    "x.shape=-1; v=x*1",
    "x.shape=(5,)",
    "x.shape=(2,-1); v=x*1",
    "v=x.T; v.shape=(12,)",
    "v=x.T; v.shape=(4,3,1); v[0]=1",
    "x.dtype='i8'; v=x+0",
    "x.dtype='f4'; v=x+0",
    "del x.shape",
    "x.ndim=3",
    "x.size=3",
    "x.T=3",
    "x.real=5; w=x*1",
    "x.flat=3",
    "x.nbytes=3",
    "x.base=None",
    "v=x.nbytes; w=x.itemsize; w2=x.size; w3=x.ndim; w4=len(x); w5=x.strides",
    "v=e.strides; w=z.strides; w2=e.nbytes",
    "v=x.T.strides; w=x[::-1].strides; w3=np.broadcast_to(i,(2,6)).strides",
    "v=e[...]; w=e.T; w2=e.reshape(3,0); w3=e.ravel()",
    "v=np.hstack([x,x]); w=np.stack([x,x],axis=1); w2=np.concatenate([x.T,x.T]); w3=np.concatenate([x.T,x.T],axis=1)",
    "v=np.sort(x.T); w=np.cumsum(x.T,axis=0)",
    "v=np.where(x.T>3,x.T,0)",
    "v=x.T[[0,1]]; w=x[:,[0,1]]; w2=t[:,[0,1]]; w3=t[:,:,[0]]",
    "v=x.T.take([0,1],axis=0)",
    "v=np.tile(x,(2,2)); w=np.repeat(x,2,axis=1); w2=np.roll(x.T,1)",
    "v=x.T@x; w=np.dot(x.T,x)",
    "v=np.sum(t,axis=0); w=np.sum(t.transpose(2,1,0),axis=0); w2=t.max(axis=1)",
    "v=np.cross(s33,s33); w=np.outer(i,i); w2=np.kron(s33,s33); w3=np.linalg.inv(s33+np.eye(3)*9).shape",
]

ORDERS: list[str] = [
    "v=np.zeros((3,4),order='F'); v[0]=1; w=v.ravel(); w[0]=9; w2=v.ravel('K'); w2[1]=8; w3=v.T; w3[0]=7; w4=v[1:, ::2]; w4[...]=5; w5=v.reshape(2,6); w6=v.reshape(2,6,order='F'); w6[0]=4",
    "v=np.ones((3,4),order='F'); v[::-1,1]=3; v[[0,1],[1,2]]=5; v[v==5]=6; v+=1; v[1:]+=2; np.add.at(v,[0],1); v.T[2]=0; w=v.T.ravel(); w[0]=77",
    "v=np.full((2,3,4),2.0,order='F'); w=v[1]; w[...]=3; w2=v[:,1:2]; w3=v.transpose(1,0,2); w3[0]=1; w4=v.reshape(-1,order='F'); w4[5]=9; w5=v.reshape(-1)",
    "v=np.array(x,order='F'); v[1]=0; w=np.array(v); w[0]=3; w2=np.asarray(v); w3=np.array(v,order='C'); w4=np.asfortranarray(v); r=w4 is v; w5=np.ascontiguousarray(v); w6=np.asarray(v,order='C')",
    "v=np.asfortranarray(x); v[0]=9; w=v.copy(); w2=v.copy('K'); w3=v.copy('A'); w4=np.copy(v); w5=v.astype('f4'); w6=v.astype('f4',order='C'); w7=np.zeros_like(v); w8=np.zeros_like(v,order='C')",
    "v=np.array(np.asfortranarray([[1.,2,3],[4,5,6]])); v[0]=9; w=v.view('i8'); w[1]=0; w2=v.flat[2]; v.flat[1]=55; w3=list(v.flat); w4=v.tolist(); w5=v.tobytes(); w6=v.tobytes('A')",
    "v=np.zeros((3,4),complex,order='F'); v.real=x; v.imag[1]=2; w=v.real; w[0]=4; w2=v.T.imag; w2[1]=8",
    "v=np.array(x,order='F'); v.sort(0); v[1:]=v[:-1]; w=v[::-1]; w[0]=2; w2=v[:, ::-1].T; w2[0]=1; v.fill(3); v[1,2]=5; np.fill_diagonal(v,8); np.put(v,[1],9); np.copyto(v[0],i[:4]); w3=np.diagonal(v); w4=v.diagonal(1)",
    "v=np.array(x,order='F'); w=v[1:3,1:3]; w2=w[::-1]; w2[0]=6; w3=w.reshape(-1); w4=w.ravel('F'); v[...]=x+1; w5=np.split(v,2,axis=1); w5[0][:]=1; w6=np.expand_dims(v,1); w7=v[None]; w7[0,0]=2; w8=v[...,None].squeeze()",
    "v=np.array(x,order='F'); v.shape=(3,2,2); v[0]=1",
    "v=np.array(x,order='F'); v.shape=(3,4,1); v[0]=1",
    "v=np.array(x,order='F'); w=pickle.loads(pickle.dumps(v)); w2=copy.deepcopy(v); w3=copy.copy(v); w4=np.flip(v); w4[0]=3; w5=np.rot90(v); w5[0]=4",
    "v=np.asarray([[1,2],[3,4]],order='F'); v[0,1]=9; w2=v.T; s=v.sum(); w3=v@v; w4=v.strides; w5=v.flags.owndata; w6=v.base is None",
    "v=np.empty((3,4),order='F'); v[...]=x; w=v.reshape(4,3); w[0]=99; w2=v.swapaxes(0,1).reshape(4,3); w2[0]=5; w3=np.broadcast_to(v,(2,3,4)); w4=np.einsum('ij->ji',v); w4[1]=3",
    "v=np.zeros((1,4),order='F'); w=v.ravel(); w[0]=1; u2=np.zeros((4,1),order='F'); w2=u2.ravel(); w2[0]=3; u3=np.zeros(4,order='F'); u4=np.zeros((0,3),order='F'); u5=np.zeros((),order='F')",
    "v=np.zeros((2,3,2),order='F'); v[0,1]=1; w=v[:,1,:]; w[0]=3; w2=v.reshape(6,2); w3=v.reshape(2,6); w4=v.reshape(6,2,order='F'); w4[1]=7; w5=v.transpose(2,1,0).ravel(); w5[3]=5; w6=v.view('i4'); w7=v.T.view('i4')",
    "v=np.array(x,order='F'); v.dtype='i8'; v[0]=0; v.dtype='f8'",
    "v=np.array(t.transpose(1,0,2)); v[0]=1; w=v.ravel(); w[0]=2; w2=v.ravel('K'); w2[1]=3; w3=v[:,1]; w3[1]=4",
    "v=t.transpose(1,0,2).copy('K'); v[0]=1; w=v.ravel(); w[0]=2; w2=v.ravel('K'); w2[1]=3; w3=v[:,1]; w3[1]=4; w4=v.reshape(6,4); w5=v.reshape(3,8); w5[0]=6; w6=v[:, ::-1, ::2]; w6[0]=5",
    "v=x.T.copy('K'); w=v[1:]; w2=w[::2]; w2[0]=4; w3=v.reshape(-1); w3[0]=8; w4=v.T.reshape(-1); w4[1]=7",
]
"""``np`` is NumPy with arraydispatch's creation functions: memory order is asked for and kept."""


class Facade:
    """NumPy with arrays made on the backend, as the launcher has it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(creation if name in creation.__all__ else np, name)


@each("program", VIEWS)
def test_views_are_views_and_copies_are_copies(backend: str, program: str) -> None:
    differential.check(program, backend)


@each("program", ORDERS)
def test_memory_order(backend: str, program: str) -> None:
    differential.check(program, backend, numpy=Facade(), layout=True)


FRESH: list[str] = [
    "v=(x.T*2).ravel(); v[0]=9; w=x.T*2; r=w.ravel(); r[0]=9; w2=(x.T*2).reshape(-1)",
    "w=-t.transpose(1,2,0); w2=w*w; w3=w+w.copy('C'); w4=np.add(w,1); w5=w>2",
    "w=np.sqrt(t.T); w2,w3=np.modf(t.T); w4,w5=np.divmod(t.T,2); w6=np.frexp(t.T)",
    "w=np.add(x,1,order='F'); w2=np.add(x.T,1,order='C'); w3=np.add(x.T,x.T,order='A'); w4=np.negative(x,order='F')",
    "w=np.add(x,1,order='Z')",
    "w=np.add(x.T,1,where=np.ones((4,3),bool))",
    "w=x.T+x.reshape(4,3); w2=x.reshape(4,3)+x.T; w3=t.T+np.ones(2); w4=t.transpose(1,0,2)+x",
    "w=t.T[::2]+1; w2=t[:, ::-1]*2; w3=np.broadcast_to(i,(3,6))+1; w4=t[..., None].T+1",
    "w=t.T.sum(0); w2=t.T.sum((0,2),keepdims=True); w3=t.T.mean(1); w4=t.T.max(-1); w5=np.any(t.T,1); w6=np.ptp(t.T,0)",
    "w=np.add.reduce(t.T,0); w2=np.add.accumulate(t.T,1); w3=np.multiply.outer(x.T,[1,2]); w4=np.nansum(t.T,1)",
    "w=np.sort(t.T,0); w2=np.cumsum(t.T,1); w3=t.T.cumprod(0); w4=np.diff(t.T,axis=0); w5=np.partition(t.T,1)",
    "w=np.where(x.T>2,x.T,0); w2=np.where(x.T>2,x.reshape(4,3),0); w3=np.clip(x.T,1,2); w4=x.T.clip(1,2)",
    "w=np.round(t.T,1); w3=t.transpose(1,2,0).round(); w4=np.nan_to_num(t.T)",
    "w=np.concatenate([x.T,x.T]); w2=np.concatenate([t.transpose(1,2,0)]*2,1); w3=np.hstack([x.T,x.T]); w4=np.vstack([x.T,x.T])",
    "r=i[::-1]; w=np.vstack([r,r]); w2=np.dstack([r,r]); w3=np.stack([r,r]); w4=np.column_stack([r,r]); w5=np.append(r,r); w6=np.hstack([r,r])",
    "w=np.sum(x[::-1],0); w2=np.average(x.T,1); w3=np.clip(x.T,[1,2,3],None); w4=np.where(x.T>2,[1.,2,3],0); w5=np.append(x.T,[[1.,2,3]],0)",
    "w=np.tril(t.T); w2=np.triu(x.T,1)",
    "w=t[:, [0,1]]; w2=t[..., [0,1]]; w3=t[:, i[:2][None]]; w4=t.T[[0,1]]; w5=t.T[:, [0,1]]; w6=t[:, [0,1]].ravel(); w6[0]=9",
    "w=t[:, np.array([True,False,True])]; w2=t[[0,1],:,[0,1]]; w3=t[0,:,[0,1]]; w4=t[None,:,[0,1]]; w5=t.T[t.T>2]",
    "w=t[:, t[0]>3]; w2=t[np.zeros((0,2),int)]; w3=t[:, :, None, [1,0]]; w4=t.T[t.T[:,:,0]>3]",
    "w=x.T*2; w[0]=7; w[:, 1]+=1; q=w.T; q[0]=5; w2=w.reshape(2,6); w3=w.ravel('K'); w3[:2]=0",
    "w=x.T*2; w+=x.T; w*=2; w2=w.view('i8'); w2[0]=0; w3=w.sum(0)",
]
"""New arrays, which keep their operands' memory order. PyTorch keeps its own: docs/reference/mutation.md."""


@each("program", FRESH)
def test_memory_order_of_new_arrays(backend: str, program: str) -> None:
    if backend == "torch":
        pytest.skip("inapplicable: its arrays have a memory order of their own")
    differential.check(program, backend, numpy=Facade(), layout=True)


def test_padding_and_inserting_keep_fortran_order(backend: str) -> None:
    if backend in ("numpy", "torch"):
        pytest.skip("inapplicable: what they are composed of has the library's own memory order")
    program = "w=x.T*1; w2=np.pad(w,1); w3=np.delete(w,0,1); w4=np.insert(w,1,7,axis=0); w5=np.pad(w[::2],1,'edge')"
    differential.check(program, backend, numpy=Facade(), layout=True)


LARGE = {
    "every other": lambda x: x[::2],
    "backwards": lambda x: x[::-1],
    "a column": lambda x: x.reshape(-1, 4)[:, 1],
    "two columns": lambda x: x.reshape(-1, 4)[:, ::2],
    "rows": lambda x: x.reshape(-1, 4)[1:],
    "transposed": lambda x: x.reshape(-1, 4).T,
    "one row": lambda x: x.reshape(1, -1),
    "every other of a column": lambda x: x.reshape(-1, 1)[::2],
    "broadcast": lambda x: np.broadcast_to(x[:3], (30_000, 3)),
}
"""Of 80,000 elements: of large arrays nobody asks NumPy itself, which would copy what it is asked about."""


@pytest.mark.parametrize("view", LARGE)
def test_large_arrays_are_copied_where_numpy_copies(backend: str, view: str) -> None:
    wrong = []
    for order in ("C", "F", "A", "K"):
        for name, flattened in (
            ("method", lambda v, order=order: v.ravel(order)),
            ("function", lambda v, order=order: np.ravel(v, order)),
            ("reshape", lambda v, order=order: v.reshape(-1, order=order if order != "K" else "C")),
            ("reshape to two", lambda v, order=order: np.reshape(v, (2, -1), order=order if order != "K" else "C")),
        ):
            host = np.arange(80_000)
            theirs, seen = flattened(LARGE[view](host)), None
            x = ad.asarray(np.arange(80_000), backend=backend)
            ours = flattened(LARGE[view](x))
            if np.shares_memory(theirs, host) and theirs.flags.writeable:
                theirs[..., 1] = -1
                ours[..., 1] = -1
                seen = host
            elif theirs.flags.writeable:
                ours[..., 1] = -1
                seen = np.arange(80_000)
            if ours.flags.writeable != theirs.flags.writeable or (
                seen is not None and not np.array_equal(np.asarray(x), seen)
            ):
                wrong.append(f"{name}, order {order!r}")
    assert not wrong
