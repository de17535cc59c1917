package expression

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// Keys are the keys of maps of the dependent that expressions read.
type Keys struct {
	Labels, Annotations, Config Names
}

// Names is a set of keys of a map.
type Names struct {
	// All is true if any key may be read.
	All   bool
	named map[string]bool
}

// Has reports whether the entry with a key may be read.
func (n Names) Has(key string) bool { return n.All || n.named[key] }

// Any reports whether any entry may be read.
func (n Names) Any() bool { return n.All || len(n.named) > 0 }

// Named returns the keys in the text of the expression, in ascending order.
func (n Names) Named() []string { return slices.Sorted(maps.Keys(n.named)) }

func (n *Names) add(key string, isLiteral bool) {
	if !isLiteral {
		n.All = true
		return
	}
	if n.named == nil {
		n.named = map[string]bool{}
	}
	n.named[key] = true
}

func (n Names) union(b Names) Names {
	union := Names{All: n.All || b.All, named: maps.Clone(n.named)}
	for key := range b.named {
		union.add(key, true)
	}
	return union
}

// Equal reports whether two sets have the same keys.
func (n Names) Equal(b Names) bool { return n.All == b.All && maps.Equal(n.named, b.named) }

// Equal reports whether the same keys are read.
func (k Keys) Equal(b Keys) bool {
	return k.Labels.Equal(b.Labels) && k.Annotations.Equal(b.Annotations) && k.Config.Equal(b.Config)
}

// With returns the union of two sets of keys.
func (k Keys) With(b Keys) Keys {
	return Keys{
		Labels: k.Labels.union(b.Labels), Annotations: k.Annotations.union(b.Annotations), Config: k.Config.union(b.Config),
	}
}

// Keys returns the keys that the expression reads.
func (e *Expression) Keys() Keys { return e.keys }

// keysOf returns the keys that an expression reads. It counts a map without a literal key, as with exists, as a whole.
func keysOf(checked *ast.AST) Keys {
	var keys Keys
	literals := literalKeys(checked)
	inner := map[int64]bool{}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.SelectKind && e.AsSelect().Operand().Kind() == ast.IdentKind {
			inner[e.AsSelect().Operand().ID()] = true
		}
	}))
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		key, isLiteral := literals[e.ID()]
		switch name := nameOf(e); {
		case name == variableConfig:
			keys.Config.add(key, isLiteral)
		case name == variableAddOn+".labels":
			keys.Labels.add(key, isLiteral)
		case name == variableAddOn+".annotations":
			keys.Annotations.add(key, isLiteral)
		case name == variableAddOn && !inner[e.ID()]: // the whole variable
			keys.Labels.All, keys.Annotations.All = true, true
		}
	}))
	return keys
}

// literalKeys returns the literal keys by which an expression reads maps, by the ID of the map's expression.
func literalKeys(checked *ast.AST) map[int64]string {
	keys := map[int64]string{}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if mapping, key, isLiteral := entry(e); isLiteral {
			keys[mapping.ID()] = key
		}
	}))
	return keys
}

// nameOf returns the name of a variable or of a field of a variable. For other expressions, it is empty.
func nameOf(e ast.Expr) string {
	switch {
	case e.Kind() == ast.IdentKind:
		return e.AsIdent()
	case e.Kind() == ast.SelectKind && e.AsSelect().Operand().Kind() == ast.IdentKind:
		return e.AsSelect().Operand().AsIdent() + "." + e.AsSelect().FieldName()
	default:
		return ""
	}
}

// entry returns the map and the literal key of an expression such as config.a, config['a'], config.?a, config[?'a'],
// has(config.a), or 'a' in config. The last result is false for other expressions.
func entry(e ast.Expr) (ast.Expr, string, bool) {
	if e.Kind() == ast.SelectKind {
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	}
	if e.Kind() != ast.CallKind {
		return nil, "", false
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		key, isLiteral := literal(args[1])
		return args[0], key, isLiteral
	case operators.In:
		key, isLiteral := literal(args[0])
		return args[1], key, isLiteral
	default:
		return nil, "", false
	}
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind || e.AsLiteral().Type() != cel.StringType {
		return "", false
	}
	text, isText := e.AsLiteral().Value().(string)
	return text, isText
}
