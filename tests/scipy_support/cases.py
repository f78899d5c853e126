"""Calls of SciPy's functions that the libraries compute: expressions over SciPy's modules and the arrays of :mod:`tests.oracle`."""

from __future__ import annotations

LINALG = """
linalg.inv(sq33) linalg.inv(cs33) linalg.inv(sq233) linalg.inv(sq33.astype('f4')) linalg.inv(i5[:4].reshape(2,2))
linalg.solve(sq33,f34) linalg.solve(sq33,f5[:3]) linalg.solve(cs33,f5[:3]) linalg.solve(sq33,f5[:3],transposed=True) linalg.solve(sq233,f34)
linalg.solve_triangular(sq33,f34) linalg.solve_triangular(sq33,f34,lower=True) linalg.solve_triangular(sq33,f5[:3],trans='T')
linalg.solve_triangular(cs33,f5[:3],trans=2,lower=True) linalg.solve_triangular(sq33,f5[:3],unit_diagonal=True)
linalg.det(sq33) linalg.det(sq233) linalg.det(sq33.astype('f4')).astype('f4') linalg.det(cs33) linalg.det(i5[:4].reshape(2,2))
linalg.lstsq(f34.T,f234[0,0])[0] linalg.lstsq(f34.T,f234[0,0]) linalg.lstsq(f34.T,f34.T[:,:2])[3] linalg.lstsq(f34,f5[:3])[0]
linalg.pinv(f34) linalg.pinv(c34) linalg.pinv(f34,return_rank=True) linalg.pinv(f34,rtol=0.5) linalg.pinvh(spd33)
linalg.cholesky(spd33) linalg.cholesky(spd33,lower=True) linalg.cho_factor(spd33)[0] linalg.cho_factor(spd33,lower=True)[0]
linalg.cho_solve(linalg.cho_factor(spd33),f5[:3]) linalg.cho_solve(linalg.cho_factor(spd33,True),f34)
np.abs(linalg.qr(f34)[1]) np.abs(linalg.qr(f34.T,mode='economic')[0]) (lambda.q,r:q@r)(*linalg.qr(f34)) np.abs(linalg.qr(f34,mode='r')[0])
linalg.svdvals(f34) linalg.svdvals(c34) linalg.svd(f34)[1] linalg.svd(f34,compute_uv=False) (lambda.u,s,v:(u*s)@v)(*linalg.svd(f34,full_matrices=False))
linalg.eigvalsh(spd33) linalg.eigvalsh(spd33.astype('f4')) linalg.eigh(spd33)[0] linalg.eigh(spd33,eigvals_only=True) np.abs(linalg.eigh(spd33)[1])
np.sort(np.abs(linalg.eigvals(sq33))) np.sort(np.abs(linalg.eig(sq33)[0])) linalg.eig(spd33)[0].dtype
linalg.polar(f34)[0] linalg.polar(f34)[1] linalg.polar(c34,side='left')[1] linalg.polar(sq33,'left')
np.abs(linalg.orth(f34)) linalg.orth(f34).shape linalg.null_space(f34).shape np.abs(linalg.null_space(f34))
linalg.norm(f34) linalg.norm(f5,1) linalg.norm(f34,2) linalg.norm(f34,axis=0) linalg.norm(c34,-np.inf) linalg.norm(i34) linalg.norm(f34,1) linalg.norm(c34,np.inf) linalg.norm(f34,'nuc',keepdims=True)
linalg.expm(sq33) linalg.expm(sq233) linalg.expm(cs33) linalg.expm(sq33*20) linalg.expm(sq33*1e-8) linalg.expm(sq33.astype('f4')) linalg.expm(i5[:4].reshape(2,2))
linalg.toeplitz(f5) linalg.toeplitz(c5) linalg.toeplitz(f5,f6) linalg.toeplitz(i5,f6)
linalg.block_diag(f34,i5,f0) linalg.block_diag(i34,i5)
linalg.inv(f34) linalg.inv(f5) linalg.inv(f34[:3,:3]*0) linalg.inv(nan34[:3,:3]) linalg.solve(sq33,f5) linalg.solve(sq33*0,f5[:3])
linalg.cholesky(-spd33) linalg.det(f34) linalg.det(nan34[:3,:3]) linalg.expm(f34)
linalg.solve_triangular(sq33*0,f5[:3]) linalg.solve_triangular(f34,f5[:3]) linalg.svd(nan34) linalg.svd(np.resize(f5,(1,46341)))
linalg.lstsq(f34,f5) linalg.eigvalsh(f34) linalg.polar(f34,'up') linalg.qr(f34,mode='x')
"""

SYSTEMS = """
linalg.lu_factor(sq33) linalg.lu_factor(cs33) linalg.lu_factor(nan34[:3,:3]) linalg.lu_solve(linalg.lu_factor(sq33),f34) linalg.lu_solve(linalg.lu_factor(sq33),f5[:3]) linalg.lu_solve(linalg.lu_factor(cs33),f34,trans=2) linalg.lu_solve(linalg.lu_factor(sq33),f34,trans=1) linalg.lu_solve(linalg.lu_factor(sq33),f5) linalg.lu_solve(linalg.lu_factor(sq33.astype('f4')),g34)
linalg.lu(sq33) linalg.lu(cs33) linalg.lu(sq33,permute_l=True) linalg.lu(sq33,p_indices=True) linalg.orthogonal_procrustes(f34.T,g34.T) linalg.orthogonal_procrustes(f34,f5) linalg.orthogonal_procrustes(f34,sq33)
linalg.solve_triangular(sq233,f34) linalg.solve_triangular(sq33,f234) linalg.solve_triangular(sq233,f34,lower=True,trans=1,unit_diagonal=True) linalg.cho_solve(linalg.cho_factor(spd33),f234)
linalg.cho_factor(np.stack([spd33,spd33*2])) linalg.cho_factor(np.stack([spd33,spd33*2]),1)[1] linalg.cho_solve(linalg.cho_factor(np.stack([spd33,spd33*2])),f5[:3]) linalg.cho_solve(linalg.cho_factor(np.stack([spd33,spd33*2]),True),f234[:,:3,:2])
"""

FFT = """
fft.fft(f34,workers=0) fft.rfftn(f34,workers=-1000) fft.dct(f34,workers=0) fft.fft2(f34,workers=1)
fft.fft(f34) fft.fft(f34,7,0) fft.fft(g34) fft.fft(c34,norm='ortho') fft.fft(i34) fft.fft(h34) fft.ifft(c34) fft.ifft(f5,norm='forward')
fft.rfft(f34) fft.rfft(f5,3) fft.rfft(g34,axis=0) fft.irfft(c34) fft.irfft(c34,5) fft.hfft(c34) fft.hfft(c5,7) fft.ihfft(f34) fft.ihfft(f5,norm='ortho')
fft.fft2(f34) fft.ifft2(c34) fft.rfft2(f234) fft.irfft2(c34,(4,6),(0,1)) fft.fftn(f234) fft.fftn(f234,(4,5)) fft.fftn(f234,axes=(0,2)) fft.ifftn(c34,norm='ortho')
fft.rfftn(f234) fft.rfftn(f234,(2,-1),(0,1)) fft.irfftn(c34,(3,6),(0,1)) fft.hfft2(c34) fft.hfftn(c34,(3,6),(0,1)) fft.ihfft2(f34) fft.ihfftn(f234)
fft.fftshift(f34) fft.fftshift(f34,0) fft.ifftshift(f5) fft.ifftshift(f34,(0,1))
fft.dct(f34) fft.dct(f34,1) fft.dct(f34,3) fft.dct(f34,4) fft.dct(f34,norm='ortho') fft.dct(f34,1,norm='ortho') fft.dct(f34,3,norm='ortho') fft.dct(f34,4,norm='ortho')
fft.dct(f34,norm='forward') fft.dct(f34,axis=0) fft.dct(f5,2,8) fft.dct(c34) fft.dct(g34) fft.dct(i34) fft.dct(f34,orthogonalize=True)
fft.idct(f34) fft.idct(f34,1) fft.idct(f34,3) fft.idct(f34,norm='ortho') fft.idct(f34,4,norm='forward')
fft.dst(f34) fft.dst(f34,1) fft.dst(f34,3) fft.dst(f34,4) fft.dst(f34,norm='ortho') fft.dst(f34,1,norm='ortho') fft.dst(f34,3,norm='ortho')
fft.idst(f34) fft.idst(f34,1) fft.idst(f34,3) fft.idst(f34,norm='ortho') fft.dctn(f234) fft.dctn(f234,axes=(0,2),norm='ortho') fft.idctn(f34) fft.dstn(f34) fft.idstn(f34,norm='ortho')
fft.dctn(f234,3,(4,2))
fft.fft(f34,norm='x') fft.fft(f34,0) fft.rfft(c34) fft.fftn(f34,axes=(0,0)) fft.fftn(f34,axes=(3,)) fft.fft(f34,plan=1) fft.dct(f34,5) fft.dct(f34,n=0) fft.rfftn(c34) fft.fft(f34,axis=5)
"""

SIGNAL = """
signal.convolve(f5,f6) signal.convolve(f5,f6,'same') signal.convolve(f6,f5,'valid') signal.convolve(f5,f6,'valid') signal.convolve(i5,k5) signal.convolve(f34,sq33) signal.convolve(f34,f34[:2,:2],'same')
signal.convolve(f34,f34[:2,:2],'valid') signal.convolve(f5,f6,method='fft') signal.convolve(i5,k5,method='fft') signal.convolve(f5,c5) signal.convolve(f34,sq33,method='direct') signal.convolve(g34,g34)
signal.convolve(f234,f234) signal.convolve(f34,f5) signal.convolve(f34,f34,'x') signal.convolve(f34,f34,method='x') signal.convolve(f34,f34.T,'valid') signal.convolve(f0,f0)
signal.correlate(f5,f6) signal.correlate(f5,f6,'same') signal.correlate(c5,f6,'valid') signal.correlate(f34,c34) signal.correlate(f34,f34[:2,:3],'valid') signal.correlate(f5,f34) signal.correlate(f6,f5[:2],'same')
signal.fftconvolve(f34,sq33) signal.fftconvolve(f34,sq33,'same') signal.fftconvolve(f34,f34[:2,:2],'valid') signal.fftconvolve(f34,f34,axes=1) signal.fftconvolve(c5,f6) signal.fftconvolve(g34,g34,'same') signal.fftconvolve(i5,k5)
signal.fftconvolve(f34,f5) signal.fftconvolve(f34,f34,axes=(5,)) signal.fftconvolve(f34,f34.T,axes=1) signal.oaconvolve(f34,sq33) signal.oaconvolve(f6,f5,'same') signal.oaconvolve(f34,f34,axes=0)
signal.convolve2d(f34,sq33) signal.convolve2d(f34,sq33,'same') signal.convolve2d(f34,sq33,'same','symm') signal.convolve2d(f34,f34[:2,:2],'same','wrap') signal.convolve2d(f34,f34[:2,:2],'valid') signal.convolve2d(f34,sq33,fillvalue=1.5)
signal.convolve2d(i34,i34) signal.convolve2d(f34,f5) signal.correlate2d(f34,sq33) signal.correlate2d(f34,c34,'same') signal.correlate2d(f34,f34[:2,:2],'same','wrap') signal.correlate2d(f34,f34[:2,:2],'valid') signal.correlate2d(f34[:2,:2],f34,'valid')
signal.hilbert(f34) signal.hilbert(f5,8) signal.hilbert(f34,axis=0) signal.hilbert(g34) signal.hilbert(c5) signal.hilbert(f5,-1)
signal.detrend(f34) signal.detrend(f34,0) signal.detrend(f34,type='constant') signal.detrend(f6,bp=[3]) signal.detrend(g34) signal.detrend(i34) signal.detrend(f34,type='x') signal.detrend(f6,bp=9)
signal.lfilter(f5,np.ones(1),f6) signal.lfilter([0.25,0.5,0.25],[2.0],f34) signal.lfilter([1.0,2.0],[1.0],f34,axis=0) signal.medfilt(f5) signal.medfilt(f34,3) signal.medfilt(f34,[1,3]) signal.medfilt(f5,2)
"""

NDIMAGE = """
ndimage.gaussian_laplace(f34,1,mode=['reflect','wrap']) ndimage.gaussian_gradient_magnitude(f34,1,mode=['constant','nearest']) ndimage.map_coordinates(f34,f34[:2]*0+0.5,order=1)
ndimage.gaussian_filter(f34,np.abs(f34[0,:2])+0.5) ndimage.gaussian_filter(f34,1.5,order=i34[0,:2]*0+1) ndimage.uniform_filter(f34,i34[0,:2]*0+3) ndimage.uniform_filter(f34,3,origin=i34[0,:2]*0+1)
ndimage.correlate1d(f34,[1,2,3]) ndimage.correlate1d(f34,[1,2,3],axis=0,mode='wrap') ndimage.correlate1d(i34,[1,2],mode='nearest') ndimage.correlate1d(g34,[1,-2,1],mode='mirror') ndimage.correlate1d(f34,[1,2,3,4],mode='constant',cval=2.5,origin=1)
ndimage.convolve1d(f34,[1,2,3]) ndimage.convolve1d(f34,[1,2,3,4],mode='reflect') ndimage.convolve1d(f34,[1,2],origin=-1) ndimage.convolve1d(u34,[1,1]) ndimage.correlate(f34,sq33) ndimage.correlate(f34,f34[:2,:2],mode='wrap') ndimage.correlate(i34,np.ones((3,3)))
ndimage.convolve(f34,sq33) ndimage.convolve(f34,f34[:2,:2],mode='constant',cval=1) ndimage.convolve(f234,f234[:,:2,:2],mode='nearest') ndimage.convolve(g34,np.ones((2,3)),mode='mirror',origin=(0,1)) ndimage.convolve(f34,np.ones((9,9)),mode='reflect')
ndimage.gaussian_filter(f34,1.0) ndimage.gaussian_filter(f34,(1.0,2.0)) ndimage.gaussian_filter(f34,1,order=1) ndimage.gaussian_filter(f34,1,order=(0,2),mode='wrap') ndimage.gaussian_filter(g34,1.5,mode='nearest') ndimage.gaussian_filter(i34*100,1) ndimage.gaussian_filter(f234,1,axes=(1,2)) ndimage.gaussian_filter(f34,1,output=np.float32)
ndimage.gaussian_filter(f34,0) ndimage.gaussian_filter(u34*20,1.0) ndimage.gaussian_filter1d(f34,2) ndimage.gaussian_filter1d(f34,2,0,1) ndimage.gaussian_filter(f34,1,radius=2) ndimage.gaussian_filter1d(f34,1,order=-1) ndimage.gaussian_filter(f34,1,mode='x') ndimage.gaussian_filter(f34,1,axes=7)
ndimage.sobel(f34) ndimage.sobel(f34,0) ndimage.sobel(i34) ndimage.prewitt(f34) ndimage.prewitt(f34,0,mode='constant') ndimage.laplace(f34) ndimage.laplace(f234,mode='wrap') ndimage.gaussian_laplace(f34,1.0) ndimage.gaussian_gradient_magnitude(f34,1.0) ndimage.gaussian_gradient_magnitude(g34,1.0)
ndimage.uniform_filter(f34) ndimage.uniform_filter(f34,2) ndimage.uniform_filter(i34,3) ndimage.uniform_filter(f34,(1,3),mode='mirror') ndimage.uniform_filter1d(f34,3) ndimage.uniform_filter1d(f34,4,axis=0,origin=-1) ndimage.uniform_filter1d(f34,0)
ndimage.maximum_filter(f34,3) ndimage.minimum_filter(f34,(2,3)) ndimage.maximum_filter1d(i34,3) ndimage.minimum_filter1d(f34,2,axis=0,mode='constant',cval=-9) ndimage.maximum_filter(u34,2,mode='wrap') ndimage.median_filter(f34,3) ndimage.median_filter(i34,(2,3)) ndimage.median_filter(f5,3,mode='mirror')
ndimage.rank_filter(f34,1,3) ndimage.rank_filter(f34,-2,3) ndimage.rank_filter(f34,10,3)
ndimage.map_coordinates(f34,[[0.5,1.2,2.0,-1],[1,2.5,3.0,0]],order=1) ndimage.map_coordinates(f34,[[0.5,1.2,2.4,-1],[1,2.5,3.0,0]],order=0,mode='nearest') ndimage.map_coordinates(f34,[[0.5,1.2,5],[1,2.5,3.0]],order=1,mode='nearest') ndimage.map_coordinates(f34,[[0.5,7],[1,2]],order=1,cval=3.5) ndimage.map_coordinates(f34,[[0.5]],order=1)
"""

BETWEEN = """
ndimage.spline_filter1d(f34) ndimage.spline_filter1d(f34,2,axis=0,mode='reflect') ndimage.spline_filter1d(g34,5,mode='grid-wrap') ndimage.spline_filter1d(c34,4) ndimage.spline_filter1d(i34,1) ndimage.spline_filter1d(f34,7) ndimage.spline_filter(f34) ndimage.spline_filter(f34,4,np.float32,'grid-wrap') ndimage.spline_filter(c34) ndimage.spline_filter(f34,1) ndimage.spline_filter1d(np.tile(f34,200),3)[:,5:-5] ndimage.spline_filter1d(np.tile(f34,200),5,mode='wrap')
ndimage.map_coordinates(f34,[[0.5,1.2,2.0,-1],[1,2.5,3.0,0]]) ndimage.map_coordinates(f34,[[0.5,1.2,7,-1],[1,2.5,-9,0]],order=2,mode='reflect') ndimage.map_coordinates(f34,[[0.5,1.2,7,-1],[1,2.5,-9,0]],order=4,mode='mirror') ndimage.map_coordinates(f34,[[0.5,1.2,7,-1],[1,2.5,-9,0]],order=5,mode='nearest') ndimage.map_coordinates(i34,[[0.5,1.2,7,-1],[1,2.5,-9,0]],mode='wrap',output=np.int32)
ndimage.map_coordinates(u34,[[0.5,1.2,7,-1],[1,2.5,-9,0]],order=1,mode='grid-wrap') ndimage.map_coordinates(f34,[[0.5,1.2,7,-1],[1,2.5,-9,0]],mode='grid-constant',cval=2.5) ndimage.map_coordinates(c34,[[0.5,1.2],[1,2.5]],cval=1j) ndimage.map_coordinates(f34,[[0.5],[1j]]) ndimage.map_coordinates(f34,[[0.5],[1.]],order=6) ndimage.map_coordinates(f34,[[0.5],[1.]],mode='x')
ndimage.shift(f34,1.3) ndimage.shift(f34,(0.5,-1.2),order=1,mode='wrap') ndimage.shift(f34,(1,),order=1) ndimage.shift(s34,1.5,cval=7) ndimage.zoom(f34,2) ndimage.zoom(f34,(1.5,0.6),order=1,mode='nearest') ndimage.zoom(f34,2.0,mode='grid-wrap',grid_mode=True) ndimage.zoom(g34,1.7)
ndimage.affine_transform(f34,[[0.9,0.2],[-0.3,1.1]],offset=(0.5,-1)) ndimage.affine_transform(f34,[0.8,1.3],offset=0.2,order=1,mode='mirror') ndimage.affine_transform(f34,np.array([[0.9,0.2,0.5],[-0.3,1.1,-1]])) ndimage.affine_transform(f34,f34) ndimage.affine_transform(f34,np.ones((3,3)))
ndimage.rotate(f34,30.0) ndimage.rotate(f234,-45,axes=(2,0),reshape=False,order=1) ndimage.rotate(f5,30) ndimage.rotate(f34,30,axes=(0,5))
"""

AROUND = """
ndimage.median_filter(f34,footprint=[[1,0],[1,1]]) ndimage.median_filter(f34,3,axes=1) ndimage.maximum_filter(f34,footprint=[[1,0,1]]) ndimage.minimum_filter(i34,footprint=[[0,1],[1,1]],mode='wrap',origin=(0,-1)) ndimage.rank_filter(f34,1,footprint=[[1,0,1],[0,1,1]]) ndimage.rank_filter(f34,0,2) ndimage.percentile_filter(f34,30,3) ndimage.percentile_filter(f34,-20,3,mode='mirror') ndimage.percentile_filter(f34,130,3) ndimage.maximum_filter(f34,footprint=[[0,0]]) ndimage.median_filter(f34)
ndimage.generic_filter(f34,np.mean,3) ndimage.generic_filter(f34,np.median,footprint=[[1,0],[1,1]],mode='constant',cval=2) ndimage.generic_filter(i34,np.std,2,axes=1) ndimage.generic_filter(f34,np.ptp,3,output=np.float32) ndimage.generic_filter(c34,np.sum,3) ndimage.generic_filter(f34,np.sum)
ndimage.median_filter(f34,3,output=np.float32)
"""

FILTERS = """
signal.lfilter([1.0,0.5],[1.0,-0.3,0.2],f34) signal.lfilter(f5,1.0,f34,axis=0) signal.lfilter([2.0,1.0],[2.0,0.5],g34) signal.lfilter([1.0],[1.0,-1.0],i34) signal.lfilter([1.0,1j],[1.0,-0.5],c34) signal.lfilter([1.0],[1.0,-0.5],f34,zi=f34[:,:1]) signal.lfilter([1.0,2.0,1.0],[1.0],f34,zi=f34[:,:2]) signal.lfilter([1.0],[1.0,-0.5],f34,zi=f5) signal.lfilter([],[1.0],f34) signal.lfilter([1.0],[1.0,-0.9],np.tile(f34,150)) signal.lfilter([1.0],[1.0,-1.0],np.tile(f34,400))
signal.sosfilt([[1,2,1,1,-0.3,0.1],[1,0,-1,1,0.2,0.3]],f34) signal.sosfilt([[1,2,1,1,-0.3,0.1]],f34,axis=0,zi=np.ones((1,2,4))) signal.sosfilt([[1,2,1,1,-0.3]],f34) signal.sosfilt([[1,2,1,2,-0.3,0.1]],f34) signal.sosfilt([[1,2,1,1,-0.3,0.1]],f34,zi=f5)
signal.upfirdn(f5,f34) signal.upfirdn(f5,f34,2,3) signal.upfirdn([1.0,2.0],f34,3,1,axis=0,mode='symmetric') signal.upfirdn(f34,f34) signal.upfirdn(f5,f34,0) signal.upfirdn(np.arange(300.0),np.tile(f34,9),2,5)
signal.filtfilt([1.0,0.5],[1.0,-0.3],f234,axis=0,padlen=1) signal.filtfilt([1.0,0.5],[1.0,-0.3],np.tile(f34,5)) signal.filtfilt([1.0,0.5],[1.0,-0.3],np.tile(f34,5),method='gust') signal.filtfilt([1.0,0.5],[1.0,-0.3],f34) signal.sosfiltfilt([[1,2,1,1,-0.3,0.1]],np.tile(f34,5)) signal.decimate(np.tile(f34,20),2) signal.decimate(np.tile(f34,20),3,ftype='fir') signal.resample_poly(f34,3,2,axis=1) signal.resample_poly(f34,2,5,padtype='mean') signal.savgol_filter(np.tile(f34,3),5,2) signal.savgol_filter(np.tile(f34,3),5,2,deriv=1,mode='nearest') signal.savgol_filter(f34,5,7)
signal.lfilter_zi(f5,p5) signal.sosfilt_zi([[1,2,1,1,-0.3,0.1]]+0*f6) signal.deconvolve(f6,f5[:2])[0] signal.wiener(f34) signal.convolve2d(np.tile(f34,(8,8)),np.tile(f34,(6,6)),'same') signal.correlate2d(np.tile(i34,(8,8)),np.tile(i34,(6,6)),'valid','symm')
"""

SPECTRA = """
signal.welch(np.tile(f34,9),nperseg=12)[1] signal.welch(np.tile(f34,9),nperseg=12,average='median',detrend='linear')[1] signal.welch(f34,nperseg=-1) signal.csd(np.tile(f34,9),np.tile(f5[:4],9),nperseg=12)[1] signal.periodogram(f34)[1] signal.periodogram(c34,axis=0)[1] signal.spectrogram(np.tile(f34,9),nperseg=8)[2] signal.spectrogram(np.tile(f34,9),nperseg=8,mode='magnitude')[2] signal.coherence(f234.reshape(-1),f234.reshape(-1)[::-1],nperseg=8)[1] signal.stft(np.tile(f34,9),nperseg=8)[2] signal.stft(np.tile(c34,9),nperseg=8,return_onesided=False)[2] signal.istft(signal.stft(np.tile(f34,9),nperseg=8)[2],nperseg=8)[1]
signal.ShortTimeFFT(np.hanning(8),3,1.0).stft(np.tile(f34,9)) signal.ShortTimeFFT(np.hanning(8),3,1.0).stft(np.tile(f34,9),padding='odd',k_offset=1) signal.ShortTimeFFT(np.hanning(8),3,1.0,fft_mode='centered',mfft=10).stft_detrend(np.tile(f34,9),'linear') signal.ShortTimeFFT(np.hanning(8),3,1.0).spectrogram(np.tile(f34,9)) signal.ShortTimeFFT(np.hanning(8),3,1.0).stft(c34) signal.ShortTimeFFT(np.hanning(8),2,1.0).istft(signal.ShortTimeFFT(np.hanning(8),2,1.0).stft(np.tile(f34,9)),k1=30) signal.ShortTimeFFT(np.hanning(8),2,1.0).istft(f34)
signal.lombscargle(np.arange(5.0),f5,p5) signal.lombscargle(np.arange(5.0),f5,p5,normalize='amplitude',floating_mean=True) signal.lombscargle(f5,f6,p5) signal.freqs(f5[:2],p5,f6)[1] signal.freqs_zpk(f5[:2],p5[:3],2.0,f6)[1] signal.czt(f34) signal.czt(f34,6,axis=0) signal.zoom_fft(f34,[0.2,0.7],9) signal.CZT(4,6)(f34) signal.ZoomFFT(4,0.5)(f34) signal.czt(f34,0)
signal.argrelextrema(f6,np.greater)[0] signal.argrelmax(np.tile(f34,3),axis=1)[1] signal.argrelmin(f6,order=2)[0] signal.hilbert2(f34) signal.envelope(f34) signal.lsim(([1.0],[1.0,1.0]),f5,np.arange(5.0))[1] signal.lsim((f5[:2],p5[:3]),f5,np.arange(5.0))[1] signal.lsim(system=signal.ZerosPolesGain([],f5[:2],2.0),U=f5,T=np.arange(5.0))[1]
"""

SPATIAL = """
distance.cdist(f34,f34[:2]) distance.cdist(f34,i34,'cityblock') distance.cdist(f34,f34+1,'sqeuclidean') distance.cdist(f34,f34[:2],'chebyshev') distance.cdist(f34,f34[:2],'cosine') distance.cdist(f34,f34[:2],'correlation') distance.cdist(f34,f34[:2],'canberra')
distance.cdist(f34,f34[:2],'braycurtis') distance.cdist(i34,i34[:2],'hamming') distance.cdist(f34,f34[:2],'minkowski',p=3) distance.cdist(f34,f34[:2],'minkowski',p=1) distance.cdist(g34,g34) distance.cdist(f34,f5) distance.cdist(f34,sq33)
distance.pdist(f34) distance.pdist(f34,'cosine') distance.pdist(f34,'minkowski',p=1.5) distance.pdist(f5) distance.squareform(f6) distance.squareform(i5[:3]) distance.squareform(f5) distance.squareform(spd33-np.diag(np.diag(spd33)),checks=False)
distance.euclidean(f5,p5) distance.sqeuclidean(f5,p5) distance.cityblock(f5,p5) distance.chebyshev(f5,p5) distance.canberra(f5,p5) distance.braycurtis(f5,p5) distance.hamming(f5,f5)
"""

STATS = """
stats.norm.pdf(f34) stats.norm.pdf(f34,0.5,2.0) stats.norm.logpdf(f34,scale=2.0) stats.norm.cdf(f34) stats.norm.logcdf(f34) stats.norm.sf(f34) stats.norm.logsf(f34) stats.norm.ppf(p5/2) stats.norm.isf(p5/2) stats.norm.ppf(f34) stats.norm.pdf(f34,scale=-1.0) stats.norm.pdf(nan34) stats.norm.cdf(f0) stats.norm.pdf(i34) stats.norm.pdf(f34,f34,p5[:4])
stats.expon.pdf(f34) stats.expon.cdf(f34,scale=2.0) stats.expon.sf(f34) stats.expon.logsf(f34) stats.expon.ppf(p5/2) stats.expon.logpdf(f34) stats.uniform.pdf(f34) stats.uniform.cdf(f34,-1,3) stats.uniform.ppf(p5/2,1,2) stats.uniform.sf(f34)
stats.logistic.pdf(f34) stats.logistic.cdf(f34) stats.logistic.sf(f34) stats.logistic.ppf(p5/2) stats.laplace.pdf(f34) stats.laplace.cdf(f34) stats.laplace.sf(f34) stats.cauchy.pdf(f34) stats.cauchy.cdf(f34) stats.rayleigh.pdf(f34) stats.rayleigh.cdf(f34) stats.gumbel_r.pdf(f34) stats.gumbel_r.cdf(f34)
stats.cauchy.ppf(f5*0+[0,1e-20,0.3,0.5,1]) stats.cauchy.ppf(p5*0+[1e-3,0.5,0.5+1e-7,0.75,1-1e-10],1,2) stats.cauchy.isf(f5*0+[0,1e-20,0.3,0.5,1]) stats.cauchy.isf(f5*0+[-1,2,0.3,0.5,np.nan]) stats.rayleigh.pdf(f5*0+[0,1,40,1e200,np.inf]) stats.gamma.cdf(f5*0+[0,1,40,1e200,np.inf],np.inf) stats.chi2.sf(f5*0+[0,1,40,1e200,np.inf],np.inf) stats.logistic.logsf(f5*0+[-np.inf,-800,40,1e200,np.inf])
stats.gamma.pdf(f34,2.5) stats.gamma.cdf(f34,2.5,scale=2.0) stats.gamma.sf(f34,a=1.5) stats.gamma.logpdf(p5,p5) stats.gamma.pdf(f34,-1.0) stats.chi2.pdf(f34,3) stats.chi2.cdf(f34,3) stats.chi2.sf(f34,df=4)
stats.zscore(f34) stats.zscore(f34,axis=1,ddof=1) stats.zmap(f34,g34) stats.gzscore(p5) stats.skew(f34) stats.skew(f34,bias=False) stats.kurtosis(f34) stats.kurtosis(f5,fisher=False) stats.moment(f34,3) stats.describe(f34) stats.describe(f5)
stats.gmean(p5) stats.hmean(p5) stats.pmean(p5,2) stats.tmean(f5,(-1,1)) stats.tvar(f5,(-1,1)) stats.tstd(f5) stats.tsem(f5) stats.sem(f34) stats.variation(f34) stats.entropy(p5) stats.entropy(p5,p5+1) stats.circmean(p5) stats.circvar(p5) stats.circstd(p5)
stats.differential_entropy(f234.reshape(-1)) stats.combine_pvalues(p5/2) stats.skewtest(f234.reshape(-1)) stats.kurtosistest(f234.reshape(-1)) stats.normaltest(f234.reshape(-1)) stats.jarque_bera(f5) stats.chisquare(i5) stats.power_divergence(i5,lambda_=0.5) stats.bartlett(f5,f6) stats.directional_stats(f34).mean_direction stats.boxcox_llf(0.5,p5)
stats.false_discovery_control(p5/2) stats.tmin(f5,-1) stats.tmax(f5,1) stats.trim_mean(f5,0.1) stats.iqr(f5) stats.gstd(p5) stats.rankdata(f5) stats.f_oneway(f5,f6) stats.kruskal(f5,f6) stats.levene(f5,f6) stats.median_abs_deviation(f34) stats.quantile(f5,0.3) stats.expectile(f5,0.3) stats.sigmaclip(f5)
"""

REST = """
integrate.trapezoid(f34) integrate.trapezoid(f34,dx=0.5,axis=0) integrate.trapezoid(f5,np.sort(p5)) integrate.trapezoid(i34) integrate.cumulative_trapezoid(f34) integrate.cumulative_trapezoid(f5,initial=0) integrate.cumulative_trapezoid(f5,np.sort(p5)) integrate.simpson(f5) integrate.simpson(f34,dx=0.1) integrate.simpson(f6,axis=0) integrate.simpson(f34[:,:2]) integrate.simpson(g34) integrate.simpson(g34[0]).dtype integrate.simpson(g34[0]).astype('f4') integrate.cumulative_simpson(f5,dx=0.5)
special.logsumexp(f34) special.logsumexp(f34,axis=0) special.logsumexp(f34,axis=1,keepdims=True) special.logsumexp(f5,b=p5) special.softmax(f34) special.softmax(f34,axis=1) special.log_softmax(f34,axis=1) special.softplus(f34)
signal.freqz(f5)[1] signal.resample(f6,4) signal.vectorstrength(p5,2.0)[0]
"""

ALL = {
    "linalg": LINALG,
    "systems": SYSTEMS,
    "fft": FFT,
    "signal": SIGNAL,
    "ndimage": NDIMAGE,
    "between": BETWEEN,
    "around": AROUND,
    "filters": FILTERS,
    "spectra": SPECTRA,
    "spatial": SPATIAL,
    "stats": STATS,
    "rest": REST,
}


def expressions() -> list[str]:
    """Every case; in the tables above a dot stands for the blank after ``lambda``."""
    return [case.replace("lambda.", "lambda ") for text in ALL.values() for case in text.split()]
