package expression

import (
	"fmt"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Names of the functions for versions. Their arguments are strings, so an expression has no values of another type. Ranges
// have the syntax of spec.dependencies[].version.
const (
	functionIsSemver = "isSemver"
	functionMatches  = "semverMatches"
	functionCompare  = "semverCompare"
)

// semverFunctions declares the functions.
func semverFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function(functionIsSemver, cel.Overload("isSemver_string", []*cel.Type{cel.StringType}, cel.BoolType,
			cel.UnaryBinding(func(version ref.Val) ref.Val {
				_, err := parseVersion(version)
				return types.Bool(err == nil)
			}))),
		cel.Function(functionMatches, cel.MemberOverload("string_semverMatches_string",
			[]*cel.Type{cel.StringType, cel.StringType}, cel.BoolType, cel.BinaryBinding(matches))),
		cel.Function(functionCompare, cel.MemberOverload("string_semverCompare_string",
			[]*cel.Type{cel.StringType, cel.StringType}, cel.IntType, cel.BinaryBinding(compare))),
	}
}

// matches reports whether a version is in a range.
func matches(version, acceptedText ref.Val) ref.Val {
	parsed, err := parseVersion(version)
	if err != nil {
		return types.WrapErr(err)
	}
	source, _ := acceptedText.Value().(string)
	acceptedRange, err := parseRange(source)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(acceptedRange.Mismatch(parsed) == "")
}

func parseRange(source string) (*versions.Range, error) {
	if utf8.RuneCountInString(source) > versions.MaxRange {
		return nil, fmt.Errorf("a range has at most %d characters", versions.MaxRange)
	}
	parsed, err := versions.ParseRange(source, nil)
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", text.Excerpt(text.OneLine(source)), err)
	}
	return parsed, nil
}

// checkRange returns an error for a literal range that is invalid.
func checkRange(argument ast.Expr) error {
	if argument.Kind() != ast.LiteralKind {
		return nil
	}
	source, _ := argument.AsLiteral().Value().(string)
	_, err := parseRange(source)
	return err
}

// compare returns -1 if the first version is lower, 0 if both are equal, and 1 if it is higher.
func compare(first, second ref.Val) ref.Val {
	a, err := parseVersion(first)
	if err != nil {
		return types.WrapErr(err)
	}
	b, err := parseVersion(second)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Int(a.Compare(b))
}

func parseVersion(value ref.Val) (*semver.Version, error) {
	source, _ := value.Value().(string)
	if len(source) > versions.MaxLength {
		return nil, fmt.Errorf("a version has at most %d bytes", versions.MaxLength)
	}
	parsed, err := semver.NewVersion(source)
	if err != nil {
		return nil, fmt.Errorf("%q is no semantic version", text.Excerpt(text.OneLine(source)))
	}
	return parsed, nil
}
