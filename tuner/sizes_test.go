package tuner_test

import (
	"slices"
	"strings"
	"testing"

	"autotune/tuner"
)

func TestParseSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int
	}{
		{"32", []int{32}},
		{"1..4", []int{1, 2, 3, 4}},
		{"7..7", []int{7}},
		{" 8, 16 ,32 ", []int{8, 16, 32}},
		{"32,8,16,8", []int{8, 16, 32}},
		{"8..32:8", []int{8, 16, 24, 32}},
		{"5..20:8", []int{8, 16}},
		{"1..20:x2", []int{1, 2, 4, 8, 16}},
		{"3..100:x3", []int{3, 9, 27, 81}},
		{"1..3,64..256:x2", []int{1, 2, 3, 64, 128, 256}},
	} {
		got, err := tuner.ParseSizes(c.text)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("ParseSizes(%q) = %v, %v; want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseSizesErrors(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "empty"},
		{"8,,16", "empty"},
		{"0", "below 1"},
		{"0..4", "below 1"},
		{"-3", "below 1"},
		{"8..4", "write 4..8"},
		{"eight", `"eight" is not a whole number`},
		{"1.5", `"1.5" is not a whole number`},
		{"1..", "not a whole number"},
		{"1..8:", "not a whole number"},
		{"1..8:0", "below 1"},
		{"9..15:8", "no multiple of 8"},
		{"1..8:x1", "never grows"},
		{"1..99999999", "more than"},
		{"1..600000,600001..1100000", "more than"},
		{"99999999999999999999", "not a whole number"},
		{"9223372036854775807", "above 1073741824"},
		{"1..4611686018427387904:x2", "above 1073741824"},
	} {
		got, err := tuner.ParseSizes(c.text)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("ParseSizes(%q) = %v, %v; want an error with %q", c.text, got, err, c.says)
		}
		if err != nil && c.text != "" && !strings.Contains(err.Error(), c.text) {
			t.Errorf("ParseSizes(%q): the error %q does not name the input", c.text, err)
		}
	}
}

func FuzzParseSizes(f *testing.F) {
	for _, text := range []string{"1..4096", "8,16,32", "8..512:8", "1..1024:x2", "0", "8..4", "", "9223372036854775807", "1..9223372036854775807:x2",
		"9223372036854775800..9223372036854775807:1000", "1..9223372036854775807:9223372036854775807"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sizes, err := tuner.ParseSizes(text)
		if err != nil {
			return
		}
		if len(sizes) == 0 || len(sizes) > tuner.MaxSizes || sizes[0] < 1 {
			t.Fatalf("ParseSizes(%q) gave %d sizes, the first %v", text, len(sizes), sizes[:min(1, len(sizes))])
		}
		for i := 1; i < len(sizes); i++ {
			if sizes[i] <= sizes[i-1] {
				t.Fatalf("ParseSizes(%q): %d after %d", text, sizes[i], sizes[i-1])
			}
		}
	})
}
