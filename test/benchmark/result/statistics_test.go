package result

import (
	"math"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		q      float64
		want   float64
	}{
		{"none", nil, 0.5, 0},
		{"one", []float64{7}, 0.99, 7},
		{"odd median, unsorted", []float64{3, 1, 2}, 0.5, 2},
		{"even median lies between", []float64{4, 1, 2, 3}, 0.5, 2.5},
		{"least", []float64{2, 1}, 0, 1},
		{"greatest", []float64{2, 1}, 1, 2},
		{"beyond the greatest", []float64{2, 1}, 3, 2},
		{"interpolated", []float64{0, 10}, 0.9, 9},
	} {
		if got := Quantile(c.values, c.q); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: Quantile(%v, %v) = %v, want %v", c.name, c.values, c.q, got, c.want)
		}
	}
}

func TestQuantileLeavesTheValuesAlone(t *testing.T) {
	values := []float64{3, 1, 2}
	Median(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("sorted in place: %v", values)
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{{3, 2, 1.5}, {0, 2, 0}, {0, 0, 1}, {1, 0, math.Inf(1)}} {
		if got := Ratio(c.a, c.b); got != c.want {
			t.Errorf("Ratio(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
