"""Memory as NumPy has it: views with repeated elements, the host's memory, memory order, what may be cast into what."""

from __future__ import annotations

from tests import differential
from tests.rows import each

PROGRAMS: list[str] = [
    "a,b=np.broadcast_arrays(new(np.arange(3.)),new(np.zeros((2,3)))); a+=1",
    "x=new(np.arange(3.)); b=np.broadcast_to(x,(2,3)); b=np.broadcast_arrays(x,new(np.zeros((2,3))))[0]; b[:]=5",
    "x=new(np.arange(3.)); b=np.broadcast_arrays(x[::-1],new(np.zeros((2,3))))[0]; b[0]=np.arange(3.)",
    "x=new(np.arange(5.)); w=np.lib.stride_tricks.sliding_window_view(x,2,writeable=True); w[...]=3; w[:,0]=[1,2,3,4]",
    "x=new(np.arange(5.)); w=np.lib.stride_tricks.sliding_window_view(x,2,writeable=True); np.add(w,1,out=w)",
    "x=new(np.arange(5.)); w=np.lib.stride_tricks.sliding_window_view(x,2,writeable=True); w[[0,1]]=7",
    "x=new(np.arange(5.)); w=np.lib.stride_tricks.sliding_window_view(x,2,writeable=True); w.fill(2); np.copyto(w,4)",
    "x=new(np.arange(5.)); w=np.lib.stride_tricks.sliding_window_view(x,2,writeable=True); w[w>1]=5",
    "x=new(np.arange(5.)); w=np.lib.stride_tricks.sliding_window_view(x,2,writeable=True); w.flat[3]=9",
    "x=new(np.arange(12.).reshape(3,4))[:, ::2]; r=np.lib.stride_tricks.as_strided(x,(3,2),x.strides).tolist()",
    "x=new(np.arange(12.).reshape(3,4))[::-1, ::-1]; r=np.lib.stride_tricks.as_strided(x,(2,2)).tolist()",
    "x=new(np.arange(12.).reshape(3,4)).T*2; r=np.lib.stride_tricks.as_strided(x,(2,2)).tolist()",
    "x=new(np.asfortranarray(np.arange(6.).reshape(2,3))); q=x.reshape(-1); q[0]=9; r=(x,q,x.strides)",
    "a=new(np.arange(12.).reshape(3,4)); q=a[:, [0,3,0]]; w=q.reshape(-1); w[0]=99; r=(q,w,q.strides)",
    "a=new(np.arange(12.).reshape(3,4)); m=new(np.array([True,False,True,True])); q=a[:, m]; w=q.ravel(); w[0]=99; r=(q,w,q.strides)",
    "a=new(np.arange(12.).reshape(3,4)); q=a.T[True]; w=q.reshape(-1); w[0]=99",
    "a=new(np.arange(24.).reshape(2,3,4)); q=a[..., [0,1]]; w=q.reshape(-1); w[0]=99; r=(q,w,q.strides)",
    "a=new(np.arange(24.).reshape(2,3,4)).T; q=a[[0,1]]; w=q.reshape(-1); w[0]=99; r=(q,w,q.strides)",
    "u=new(np.array([1,2],np.uint8)); u[:]=[256,1]",
    "u=new(np.array([1,2],np.uint8)); u[u>0]=[-1,1]",
    "u=new(np.array([1,2],np.uint8)); u.flat=[300,1]",
    "u=new(np.array([1,2],np.int32)); u[[0,1]]=[2**40,-1]",
    "u=new(np.array([1,2])); u[:2]=[1.5,np.nan]",
    "u=new(np.array([1,2])); u[:2]=[1j,2]",
    "u=new(np.array([1,2])); u[:2]=[1.5,2.7]",
    "u=new(np.array([1,2])); u[:2]=['3','4']",
    "u=new(np.array([1.,2])); u[:2]=range(2)",
    "u=new(np.array([1.,2])); u[:2]=(True,None)",
    "u=new(np.array([1,2])); u[[True,False]]=(None,)",
    "a=new(np.arange(3.)+0j); np.add(a,1j*a,out=a,casting='unsafe')",
    "a=new(np.arange(3.)); np.add(a,1j*a,out=a,casting='unsafe')",
    "i=new(np.arange(3)); np.multiply(i,2.5,out=i,casting='unsafe')",
    "i=new(np.arange(3)); np.multiply(i,2.5,out=i)",
    "b=new(np.array([True,False,True])); np.add.accumulate(b,out=b)",
    "f=new(np.arange(3.)*1.5); i=new(np.zeros(3,int)); np.add.accumulate(f,out=i)",
    "f=new(np.arange(3.)*1.5); i=new(np.zeros((),int)); np.add.reduce(f,out=i)",
    "f=new(np.arange(3.)*1.5); i=new(np.zeros((),int)); np.maximum.reduce(f,out=i)",
    "f=new(np.arange(3.)*1.5); i=new(np.zeros((),'f4')); np.maximum.reduce(f,out=i)",
    "f=new(np.arange(6.)*1.5); i=new(np.zeros(2,int)); np.add.reduceat(f,[0,2],out=i)",
    "f=new(np.arange(3.)+1j); i=new(np.zeros(())); np.add.reduce(f,out=i)",
    "f=new(np.arange(3.)>1); i=new(np.zeros((),int)); np.logical_or.reduce(f,out=i)",
    "a=new(np.arange(4.)); a.setflags(write=False); b=a[1:]; a.flags.writeable=True; a[0]=3; r=(a,b.flags.writeable)",
    "a=new(np.arange(4.)); a.flags.writeable=False; a.flags.writeable=True; a[0]=3",
    "a=new(np.arange(12.).reshape(3,4)); a.T.resize(2,6)",
    "a=new(np.zeros((0,3))); v=a[:]; a.resize(0)",
    "q=new(np.arange(2.)); q.flags.writeable=False; q.resize(2)",
    "v=new(np.arange(6.).reshape(2,3).copy('F')); v.resize((2,7),refcheck=False)",
    "f=new(np.arange(12.).reshape(3,4).copy('F')); v=f[::-1].ravel('K'); w=f[:, ::-1].flatten('K'); w2=f[::2].ravel('A'); w3=f.T[::-1].ravel('K')",
    "z=(new(np.arange(12.).reshape(3,4))*(1+2j)).copy('F'); v=z.real.ravel('K'); w=z.imag.flatten('K'); w2=z[::-1].ravel('A')",
    "b=np.broadcast_to(new(np.array([3.,1,4])),(2,3)); v=b.ravel('K'); w=b.flatten('K'); w2=b.T.ravel('K')",
    "f=new(np.arange(12.).reshape(3,4).copy('F')); b=np.broadcast_to(f[:,None],(3,2,4)); v=b.flatten('K'); w=b.ravel('A'); w2=b.reshape(-1,order='A')",
    "f=new(np.arange(12.).reshape(3,4)).T*1; v=f[::-1].reshape(6,2,order='A'); w=f.reshape(6,2,order='A'); w2=f[:,1:].ravel('A')",
    "f=new(np.arange(12.).reshape(3,4).copy('F')); v=f.T.view('i4'); v[0]=0; w=f.T.view('i8'); w[1]=0",
    "t=new(np.arange(12.).reshape(3,4)).T*1; v=t.T.view('i4'); v[0]=0",
    "f=new(np.arange(24.).reshape(4,6).copy('F')); v=f.T.view('c16'); v[0]=3j",
    "f=new(np.arange(12.).reshape(3,4).copy('F')); r=(lambda h: (h.tolist(), h.strides, h.ravel().base is h))(np.array(f))",
]


@each("program", PROGRAMS)
def test_program(backend: str, program: str) -> None:
    differential.check(program, backend)
