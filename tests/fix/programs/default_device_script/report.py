import numpy as np


def regression_report(y_true, y_pred):
    residual = y_true - y_pred
    r2 = 1 - (residual**2).sum() / ((y_true - y_true.mean()) ** 2).sum()
    return {"mae": float(np.abs(residual).mean()), "r2": float(r2), "worst": int(np.abs(residual).argmax())}
