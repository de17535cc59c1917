package result

import (
	"math"
	"slices"
)

// Median returns the median of the values, or zero if there are none.
func Median(values []float64) float64 {
	return Quantile(values, 0.5)
}

// Quantile returns the value below which the share q (0 to 1) of the values lies, interpolated between the two
// nearest values. It returns zero if there are no values.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	position := min(max(q, 0), 1) * float64(len(sorted)-1)
	below := int(position)
	if below == len(sorted)-1 {
		return sorted[below]
	}
	share := position - float64(below)
	return sorted[below]*(1-share) + sorted[below+1]*share
}

// Ratio returns a divided by b. It is infinite if only b is zero, and one if both are zero.
func Ratio(a, b float64) float64 {
	switch {
	case b != 0:
		return a / b
	case a == 0:
		return 1
	default:
		return math.Inf(1)
	}
}
