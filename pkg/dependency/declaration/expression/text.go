package expression

import (
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

var errNotText = errors.New("must be a string, as in cluster.labels['region'], or an optional one, as in cluster.labels[?'region']")

// Text is a compiled expression with a string as result. It is safe for concurrent use.
type Text struct{ *Expression }

// CompileText compiles a CEL expression whose result is a string or an optional string. The error explains the problem on
// one line.
func CompileText(text string) (Text, error) {
	compiled, err := compile(text, errNotText, cel.StringType, cel.OptionalType(cel.StringType))
	return Text{compiled}, err
}

// Value returns the string, and the cost of the evaluation. The second result is false for an empty optional.
func (t Text) Value(variables Variables) (string, bool, uint64, error) {
	value, cost, err := t.evaluate(variables)
	if err != nil {
		return "", false, cost, err
	}
	if optional, isOptional := value.(*types.Optional); isOptional {
		if !optional.HasValue() {
			return "", false, cost, nil
		}
		value = optional.GetValue()
	}
	text, isText := value.Value().(string)
	if !isText {
		return "", false, cost, errNotText
	}
	return text, true, cost, nil
}

// dependenciesOf returns the dependencies that an expression reads. Without a literal key, it reads all of them.
func dependenciesOf(checked *ast.AST) Names {
	var names Names
	literals := literalKeys(checked)
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && e.AsIdent() == variableDependencies {
			key, isLiteral := literals[e.ID()]
			names.add(key, isLiteral)
		}
	}))
	return names
}
