import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

data, labels = load_iris(return_X_y=True)
centred = (data - np.mean(data, axis=0)) / np.std(data, axis=0)
print(np.round(np.abs(centred - StandardScaler().fit_transform(data)).max(), 12))
train, test, y, expected = train_test_split(centred, labels, random_state=0)
predicted = KNeighborsClassifier(3).fit(train, y).predict(test)
print(accuracy_score(expected, predicted), np.sum(predicted == expected))
fit = LinearRegression().fit(train, train @ np.array([1.0, -2.0, 0.5, 3.0]) + 1)
print(np.round(fit.coef_, 8), round(float(mean_squared_error(np.zeros(3), np.ones(3))), 6))
print(np.round(PCA(2).fit(centred).explained_variance_ratio_, 8))
print(np.bincount(KMeans(3, n_init=1, random_state=0).fit(centred).labels_).sum())

from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, ParameterGrid

search = GridSearchCV(Ridge(), {"alpha": np.logspace(-2, 2, 3)}, cv=3).fit(np.arange(24.0).reshape(12, 2), np.arange(12.0))
print("%.3g" % search.best_params_["alpha"], len(ParameterGrid({"alpha": np.logspace(-2, 2, 3)})))
