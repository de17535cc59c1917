package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// ColorMode decides whether an output has colors. It is the value of a flag.
type ColorMode string

// The modes. Auto is for a terminal that has colors, unless the variable NO_COLOR is set.
const (
	Auto   ColorMode = "auto"
	Always ColorMode = "always"
	Never  ColorMode = "never"
)

// ColorModes are all modes.
var ColorModes = []string{string(Auto), string(Always), string(Never)}

// String implements pflag.Value.
func (m *ColorMode) String() string { return string(*m) }

// Set implements pflag.Value.
func (m *ColorMode) Set(value string) error {
	if !slices.Contains(ColorModes, value) {
		return fmt.Errorf("must be one of %s", strings.Join(ColorModes, ", "))
	}
	*m = ColorMode(value)
	return nil
}

// Type implements pflag.Value.
func (*ColorMode) Type() string { return "string" }

// WithColors returns an output whose colors follow the mode. The mode may change until the first use of the screen.
func WithColors(out io.Writer, mode *ColorMode) io.Writer { return coloredOutput{out, mode} }

type coloredOutput struct {
	io.Writer
	mode *ColorMode
}

// Screen implements Output.
func (o coloredOutput) Screen() Screen {
	screen := ScreenOf(o.Writer)
	switch *o.mode {
	case Always:
		screen.Colored = true
	case Never:
		screen.Colored = false
	case Auto:
	}
	return screen
}
