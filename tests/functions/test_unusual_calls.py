"""Calls that are unusual and allowed: casts that lose something, initial values that do not fit, odd positions."""

from __future__ import annotations

import pytest

from .. import differential

PROGRAMS: list[str] = [
    "w,V=np.linalg.eig(new(np.diag([1.,2,3]))); V[:,0]/=2; V[0]*=2; r=np.shares_memory(V,V[:,0])",
    "w=np.linalg.eigvals(new(np.eye(3))); v=w[1:]; v*=2; r=w.tolist(); del w, v",
    "x=new([1.,2]); r=np.concatenate((x,x),dtype='>f8'); r=r.dtype.str, r.tolist()",
    "x=new([1,2]); r=np.stack((x,x),dtype='>i4',casting='same_kind'); r=r.dtype.str, r.tolist()",
    "r=new([1.,2]).view('>f8').tolist()",
    "r=np.where(new([True,False]),new([1.,2]),[3,4])",
    "r=np.sum(new([-3,1]),initial=1.5)",
    "r=np.sum(new([3,1]),initial=-1.5)",
    "r=np.prod(new([3,5]),initial=1.5)",
    "r=new([3,5]).prod(initial=2.5)",
    "r=np.min(new([True,False]),initial=-1)",
    "r=np.nansum(new(np.array([1,2],'i1')),dtype='i1',initial=1.5)",
    "r=np.add(new([-3]),new([3]),dtype=bool,casting='unsafe')",
    "r=np.multiply(new([.5]),new([4]),dtype='?',casting='unsafe')",
    "r=np.maximum(new([.5,2]),new([.7,-1]),dtype='?',casting='unsafe')",
    "r=np.add(new([300]),new([3]),dtype='i1',casting='unsafe')",
    "r=np.insert(new(np.array([1,2,3],'u1')),1,256)",
    "r=np.insert(new(np.array([1,2,3],'u1')),1,-1)",
    "r=np.insert(new(np.array([1,2,3],'i4')),1,2**40)",
    "r=np.insert(new([1,2,3]),1,np.nan)",
    "r=np.insert(new([1,2,3]),1,2**70)",
    "r=np.insert(new([1,2,3]),1.5,7)",
    "r=np.insert(new([1,2,3]),new([1,2]),new([7,8]))",
    "r=np.einsum('ij->ji', new(np.arange(6,dtype='i2').reshape(2,3)), dtype='f4')",
    "r=np.einsum('ii->i', new(np.arange(9,dtype='i2').reshape(3,3)), dtype='f4')",
    "r=np.einsum('ij->j', new(np.arange(6,dtype='i2').reshape(2,3)), dtype='f4')",
    "r=np.einsum('ij', new(np.arange(6,dtype='i2').reshape(2,3)), dtype='f4')",
    "r=np.quantile(new(np.zeros((2,0,3),'f4')),.5,axis=0)",
    "r=np.percentile(new(np.zeros((0,3),'f4')),50,axis=1)",
    "r=np.quantile(new(np.zeros((2,0,3),'f4')),[.5],axis=0)",
    "r=np.add.outer(new([-3]),new([3]),dtype=bool,casting='unsafe')",
    "r=np.add.outer(new([1j]),new([3]),dtype=float,casting='unsafe')",
    "r=np.add(new([True]),1j,dtype='i8',casting='unsafe')",
    "r=np.add(new([1j]),1,dtype=float,casting='unsafe')",
    "r=np.heaviside(new([1j]),new([1.]),dtype='f4',casting='unsafe')",
    "r=np.add.accumulate(new([1,2]),axis=(0,))",
    "r=np.add.accumulate(new([[1,2]]),axis=(0,1))",
    "r=np.add.reduceat(new(np.arange(8)),[0.,4.])",
    "r=np.add.reduceat(new(np.arange(8)),new([0.,4.]))",
    "r=np.add.reduceat(new(np.arange(8)),[])",
    "r=np.add.reduceat(new(np.arange(8)),[0,4],axis=(0,))",
    "r=np.select([new([True])],[new(np.array([1],'u1'))],300)",
    "r=np.select([new([False])],[new(np.array([1],'u1'))],300)",
    "r=np.select([new([1])],[new(np.array([1],'u1'))],300)",
    "r=np.select([new([True]),new([False])],[1,2.5],new([3]))",
    "r=np.sum(new(np.array([],'u2')),initial=-1)",
    "r=np.nanmax(new(np.array([],'u1')),initial=-1)",
    "r=np.max(new(np.zeros((3,0),'u1')),axis=0,initial=300)",
    "r=np.max(new([1,2]),initial=2.7)",
    "r=np.sum(new([1]),initial=np.nan)",
    "r=np.sum(new([1.]),initial=1j)",
    "r=np.sum(new([1]),initial=np.array(1.5))",
    "r=np.sum(new([1]),initial=new(1.5))",
    "r=np.logical_or.reduce(new([0]),initial=5)",
    "r=np.bitwise_and.reduce(new(np.array([3],'u1')))",
    "r=np.bitwise_and.reduce(new(np.array([],'u1')))",
    "r=np.bincount(new([[1.,2.]]))",
    "r=np.bincount(new(1.))",
    "x=new(np.array([1,2,3],'i1')); x[[1]]=300",
    "x=new(np.array([1,2,3],'i1')); x[5]=300",
    "r=np.trapezoid(new(2.0), new(1.0))",
    "r=np.trapezoid(new(2.0), new([1.0, 2.0]))",
    "r=new(np.zeros(0)).view('i4').tolist()",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(backend: str, program: str) -> None:
    differential.check(program, backend)
