package result

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Spread renders the figure: the median, and in brackets the least and the
// greatest value if their text differs from the median's.
func (f *Figure) Spread() string {
	if len(f.Values) == 0 {
		return "not measured"
	}
	whole := !slices.ContainsFunc(f.Values, func(value float64) bool { return !isWhole(value) })
	median, least, greatest := format(Median(f.Values), whole), format(slices.Min(f.Values), whole), format(slices.Max(f.Values), whole)
	if least == median && greatest == median {
		return f.withUnit(median)
	}
	return fmt.Sprintf("%s (%s to %s)", f.withUnit(median), least, greatest)
}

// Bound renders the figure's limit.
func (f *Figure) Bound() string {
	limit := f.withUnit(format(f.Limit, isWhole(f.Limit)))
	switch f.Rule {
	case MedianAtMost, NeverAbove:
		return "≤ " + limit
	case MedianAtLeast:
		return "≥ " + limit
	default:
		return ""
	}
}

// Verdict returns "holds" or "MISSED", or "" without a limit.
func (f *Figure) Verdict() string {
	switch {
	case f.Rule == NoLimit:
		return ""
	case f.Holds():
		return "holds"
	default:
		return "MISSED"
	}
}

func (f *Figure) withUnit(number string) string {
	if f.Unit == "" || f.Unit == "×" {
		return number + f.Unit
	}
	return number + " " + f.Unit
}

func isWhole(value float64) bool { return value == math.Trunc(value) }

// format keeps three significant digits. Of large numbers it keeps all digits, and of whole numbers those before the
// point.
func format(value float64, whole bool) string {
	switch size := math.Abs(value); {
	case size == math.MaxFloat64:
		return "∞"
	case size >= 100 || whole:
		return thousands(int64(math.Round(value)))
	case size >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	case size >= 0.1:
		return strconv.FormatFloat(value, 'f', 2, 64)
	default:
		return strconv.FormatFloat(value, 'g', 2, 64)
	}
}

func thousands(number int64) string {
	digits := strconv.FormatInt(number, 10)
	var groups []string
	for len(digits) > 3 && digits[len(digits)-4] != '-' {
		groups = append(groups, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	groups = append(groups, digits)
	slices.Reverse(groups)
	return strings.Join(groups, ",")
}
