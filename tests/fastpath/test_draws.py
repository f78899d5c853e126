"""Draws of every method of NumPy's generators, and of the functions of ``np.random``: NumPy's types, dtypes, shapes and values.

NumPy's ``choice`` and ``permutation`` call other methods of the generator, which are ours under the launcher.
"""

from __future__ import annotations

from pathlib import Path

from tests.launched import Zygotes

SCRIPT = """
import numpy as np

def tell(v):
    if isinstance(v, tuple): return [tell(x) for x in v]
    return type(v).__name__, getattr(v,"dtype",None), getattr(v,"shape",None), np.asarray(v).ravel()[:4].tolist()
calls={"choice":["8","8,3","8,size=3","8,replace=False,size=3","[1,2,3]","[3,4],2","8,()","np.arange(5)","np.arange(5),2","[[1,2],[3,4]],1","8,p=[.125]*8","3,2,False,[.2,.3,.5]","[None]"],
"permutation":["8","[1,2,3]","np.arange(4)","np.eye(3)"],"permuted":["[1,2,3]","np.arange(6).reshape(2,3)","np.arange(6).reshape(2,3),axis=1"],
"multivariate_normal":["[0,0],[[1,0],[0,1]]","[0,0],[[1,0],[0,1]],3","np.zeros(2),np.eye(2),size=2"],"dirichlet":["[1,2,3]","[1,2,3],2"],"multinomial":["5,[.2,.8]","5,[.2,.8],2"],"multivariate_hypergeometric":["[3,4,5],2","[3,4,5],2,size=2"],
"integers":["5","0,5","0,5,3","5,size=3","5,size=()","5,size=(2,3),dtype=np.int8"],"random":["","3","(2,2)","size=2","3,np.float32"],"normal":["","0,1","0,1,3","size=3","loc=2","[0,1]","np.arange(3)","0,1,()"],"standard_normal":["","3","(2,3)","size=(2,)","3,np.float32"],
"uniform":["","0,2","0,2,3","low=-1,size=2"],"exponential":["","2.0","2.0,3"],"poisson":["3","3,4","lam=3,size=(2,2)"],"gamma":["2.","2.,1.,3"],"beta":["1,2","1,2,2"],"binomial":["5,.5","5,.5,3"],"bytes":["3"],"shuffle":["[1,2]"],"geometric":[".5",".5,2"],"laplace":["","0,1,2"],"weibull":["2","2,3"],"zipf":["2,3"],"triangular":["0,1,2","0,1,2,3"],"lognormal":["","0,1,2"],"standard_t":["3","3,2"],"standard_gamma":["2.","2.,3"],"f":["1,2"],"chisquare":["2,3"],"vonmises":["0,1,2"],"logistic":["","0,1,3"],"gumbel":[""],"hypergeometric":["5,6,3","5,6,3,2"],"rayleigh":[""],"pareto":["2,2"],"power":["2,2"],"wald":["1,2"],"negative_binomial":["3,.5,2"],"noncentral_chisquare":["2,1"],"logseries":[".5,3"],"standard_cauchy":["","2"],"standard_exponential":["","2"]}
legacy={"choice":calls["choice"],"permutation":calls["permutation"],"multivariate_normal":calls["multivariate_normal"],"dirichlet":calls["dirichlet"],"multinomial":calls["multinomial"],"rand":["","3","2,2"],"randn":["","3","2,2"],"randint":["5","0,5","0,5,3","5,size=3","5,size=(2,2)"],"random":["","3"],"random_sample":["","3","(2,2)"],"ranf":[""],"sample":["2"],"normal":calls["normal"],"standard_normal":["","3"],"uniform":calls["uniform"],"exponential":calls["exponential"],"bytes":["3"],"tomaxint":["","2"],"poisson":calls["poisson"],"binomial":calls["binomial"]}
def both(make, table, what):
    for name, forms in table.items():
        for form in forms:
            g=make()
            if not hasattr(g,name): continue
            try: v=tell(eval(f"g.{name}({form})"))
            except Exception as e: v=type(e).__name__,str(e)
            print(what,name,form,v)
both(lambda: np.random.default_rng(3), calls, "Generator")
both(lambda: np.random.RandomState(3), legacy, "RandomState")
def seeded():
    np.random.seed(3); return np.random
both(seeded, legacy, "module")
print({0: "a", 1: "b"}[np.random.default_rng(0).choice(2)], ["a", "b"][np.random.choice(2)])
"""


def test_draws_are_numpys(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    plain = zygotes.plain.run("script.py", cwd=tmp_path)
    assert plain.code == 0, plain.stderr
    ours = zygotes.of(backend).run("script.py", cwd=tmp_path)
    assert (ours.code, ours.stdout) == (0, plain.stdout), ours.stderr
