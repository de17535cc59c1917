package cmdline

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// notEmpty is the value of a flag that must not be set to an empty string. In a script, an empty value comes from an unset variable.
type notEmpty struct{ value *string }

func (v notEmpty) String() string {
	if v.value == nil { // the library compares with a zero value
		return ""
	}
	return *v.value
}

func (v notEmpty) Set(value string) error {
	if value == "" {
		return errors.New("must not be empty")
	}
	*v.value = value
	return nil
}

func (v notEmpty) Type() string { return "string" }

// NotEmptyVar adds a flag that must not be set to an empty string.
func NotEmptyVar(command *cobra.Command, target *string, name, shorthand, byDefault, usage string) {
	*target = byDefault
	command.Flags().VarP(notEmpty{target}, name, shorthand, usage)
}

// Overwrites returns an error that names the flag of an output if it is the same file as one of the inputs.
func Overwrites(flag, output string, inputs ...string) error {
	written, err := os.Stat(output)
	if err != nil {
		return nil //nolint:nilerr // an unreadable file cannot be an input
	}
	for _, input := range inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(written, read) {
			return UsageError(fmt.Errorf("--%s: %s is read too, and would be overwritten: name another file", flag, output))
		}
	}
	return nil
}
