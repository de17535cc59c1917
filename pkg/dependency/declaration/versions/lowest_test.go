package versions

import "testing"

func TestLowest(t *testing.T) {
	for _, test := range []struct {
		ranges []string
		want   string
	}{
		{[]string{">= 2.1"}, "2.1.0"},
		{[]string{"> 2.1.3"}, "2.1.4"},
		{[]string{">= 2.1", "~2.2"}, "2.2.0"},
		{[]string{">= 2.1", "*"}, "2.1.0"},
		{[]string{"< 2"}, "0.0.0"},
		{[]string{">= 2", "< 2"}, ""},
	} {
		var ranges []*Range
		for _, text := range test.ranges {
			r, err := ParseRange(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			ranges = append(ranges, r)
		}
		got := ""
		if lowest := Lowest(ranges...); lowest != nil {
			got = lowest.String()
		}
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.ranges, got, test.want)
		}
	}
}
