package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rule is a CEL rule on the value self.
type rule struct {
	Rule, Message, FieldPath string

	program cel.Program
	// guards has properties. The rule begins with !has(self.property) || … for each of them, so it
	// holds if any is absent. Most rules need not be evaluated for most values.
	guards []string
}

const self = "self"

// compileRules compiles the rules of the schema and of all within it.
func (s *structural) compileRules() error {
	env, err := cel.NewEnv(cel.Variable(self, cel.DynType))
	if err != nil {
		return fmt.Errorf("prepare CEL: %w", err)
	}
	return s.compileIn(env)
}

func (s *structural) compileIn(env *cel.Env) error {
	for _, rule := range s.Rules {
		if err := rule.compile(env); err != nil {
			return fmt.Errorf("rule %q: %w", rule.Rule, err)
		}
	}
	if s.Items != nil && s.Items.Description == "" {
		s.Items.Description = s.Description
	}
	for _, child := range s.Properties {
		if err := child.compileIn(env); err != nil {
			return err
		}
	}
	for _, child := range []*structural{s.Items, s.AdditionalProperties} {
		if child == nil {
			continue
		}
		if err := child.compileIn(env); err != nil {
			return err
		}
	}
	return nil
}

func (r *rule) compile(env *cel.Env) error {
	compiled, issues := env.Compile(r.Rule)
	if err := issues.Err(); err != nil {
		return err
	}
	r.guards = guardsOf(compiled.NativeRep().Expr())
	program, err := env.Program(compiled)
	r.program = program
	return err
}

// guardsOf finds the operands !has(self.property) of an outermost ||.
func guardsOf(expr ast.Expr) []string {
	if expr.Kind() != ast.CallKind {
		return nil
	}
	call := expr.AsCall()
	switch call.FunctionName() {
	case operators.LogicalOr:
		return slices.Concat(guardsOf(call.Args()[0]), guardsOf(call.Args()[1]))
	case operators.LogicalNot:
		if test := call.Args()[0]; test.Kind() == ast.SelectKind && test.AsSelect().IsTestOnly() {
			if operand := test.AsSelect().Operand(); operand.Kind() == ast.IdentKind && operand.AsIdent() == self {
				return []string{test.AsSelect().FieldName()}
			}
		}
	}
	return nil
}

// holds reports whether the value satisfies the rule.
func (r *rule) holds(value any) bool {
	if object, isObject := value.(map[string]any); isObject {
		for _, property := range r.guards {
			if _, ok := object[property]; !ok {
				return true
			}
		}
	}
	result, _, err := r.program.Eval(map[string]any{self: value})
	return err == nil && result == types.True
}

// refusal is the error of a value that violates the rule. It names the field at FieldPath and its value.
func (r *rule) refusal(value any, path *field.Path) *field.Error {
	if name := strings.TrimPrefix(r.FieldPath, "."); name != "" {
		object, _ := value.(map[string]any)
		value, path = object[name], path.Child(name)
	}
	return field.Invalid(path, shown(value), r.Message)
}
