package expression

import (
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

var errNotText = errors.New("must be a string, as in cluster.labels['region'], or an optional one, as in cluster.labels[?'region']")

// Text is a compiled expression for a text. It is safe for concurrent use.
type Text struct{ *Expression }

// CompileText reads a CEL expression for a text, which may be an optional one; the error explains on one line what is wrong with it.
func CompileText(text string) (Text, error) {
	compiled, err := compile(text, errNotText, cel.StringType, cel.OptionalType(cel.StringType))
	return Text{compiled}, err
}

// Value returns the text, whether there is one, and what the evaluation cost.
func (t Text) Value(known Variables) (text string, exists bool, cost uint64, err error) {
	value, cost, err := t.evaluate(known)
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

// dependenciesOf finds the dependencies that an expression reads: those that it names, or all where it names them otherwise than
// by a key that is written out.
func dependenciesOf(checked *ast.AST) (found Names) {
	by := map[int64]string{}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if of, key, isKnown := entry(e); isKnown {
			by[of.ID()] = key
		}
	}))
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && e.AsIdent() == variableDependencies {
			key, isKnown := by[e.ID()]
			found.add(key, isKnown)
		}
	}))
	return found
}
