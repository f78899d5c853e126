"""Black-Scholes prices and sensitivities of four million European options."""

import numpy as np

N = 4_000_000
RATE = 0.03


def norm_pdf(x):
    """Density of the standard normal distribution."""
    return np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)


def norm_cdf(x):
    """Normal distribution function: Abramowitz and Stegun, formula 26.2.17 (absolute error below 7.5e-8)."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    upper = norm_pdf(x) * poly
    return np.where(x >= 0.0, 1.0 - upper, upper)


def black_scholes(spot, strike, years, rate, sigma):
    """Call and put prices, the calls' delta, and vega."""
    root = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    delta = norm_cdf(d1)
    call = spot * delta - discounted * norm_cdf(d2)
    put = discounted * norm_cdf(-d2) - spot * norm_cdf(-d1)
    vega = spot * norm_pdf(d1) * np.sqrt(years)
    return call, put, delta, vega


def main():
    rng = np.random.default_rng(2024)
    spot = rng.uniform(60.0, 140.0, N)
    strike = rng.uniform(70.0, 130.0, N)
    years = rng.uniform(0.1, 3.0, N)
    sigma = 0.1 + 0.4 * rng.random(N)

    call, put, delta, vega = black_scholes(spot, strike, years, RATE, sigma)

    for name, values in [("call price", call), ("put price", put), ("call delta", delta), ("vega", vega)]:
        print(f"{name:<12} mean {values.mean():.10e}   std {values.std():.10e}   max {values.max():.10e}")

    deep = (spot > 1.2 * strike) & (years < 1.0)
    print(f"deep in the money, under a year: {np.count_nonzero(deep)} options")
    print(f"    mean call price {np.mean(call[deep]):.10e}   mean delta {np.mean(delta[deep]):.10e}")

    edges = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    for low, high in zip(edges[:-1], edges[1:]):
        chosen = np.where((years >= low) & (years < high), call, 0.0)
        print(f"    {low:.1f} to {high:.1f} years: value of all calls {np.sum(chosen):.10e}")

    print("first options:")
    for i in range(5):
        print(f"    spot {spot[i]:.8f}   strike {strike[i]:.8f}   call {call[i]:.10e}   delta {delta[i]:.10e}")

    parity = np.abs(call - put - (spot - strike * np.exp(-RATE * years)))
    print(f"put-call parity holds to 1e-10: {bool(np.all(parity < 1e-10))}")


if __name__ == "__main__":
    main()
