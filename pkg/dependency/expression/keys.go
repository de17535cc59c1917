package expression

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// Keys are the entries of maps that expressions read, of the add-on whose edge has them.
type Keys struct {
	Labels, Annotations, Config Names
}

// Names are keys of a map.
type Names struct {
	// All: any key may be read.
	All   bool
	named map[string]bool
}

// Has reports whether the entry with a key may be read.
func (n Names) Has(key string) bool { return n.All || n.named[key] }

// Any reports whether any entry may be read.
func (n Names) Any() bool { return n.All || len(n.named) > 0 }

// Named returns the keys that are written out, ascending.
func (n Names) Named() []string { return slices.Sorted(maps.Keys(n.named)) }

func (n *Names) add(key string, isKnown bool) {
	if !isKnown {
		n.All = true
		return
	}
	if n.named == nil {
		n.named = map[string]bool{}
	}
	n.named[key] = true
}

func (n Names) with(other Names) Names {
	joined := Names{All: n.All || other.All, named: maps.Clone(n.named)}
	for key := range other.named {
		joined.add(key, true)
	}
	return joined
}

// With returns the keys of both.
func (k Keys) With(other Keys) Keys {
	return Keys{
		Labels: k.Labels.with(other.Labels), Annotations: k.Annotations.with(other.Annotations), Config: k.Config.with(other.Config),
	}
}

// Keys are the entries that the expression reads.
func (e *Expression) Keys() Keys { return e.keys }

// keysOf finds the entries that an expression reads. A map that is read otherwise than by a
// key that is written out, as by exists, is read as a whole.
func keysOf(checked *ast.AST) Keys {
	var found Keys
	by := map[int64]string{} // the keys of maps, by the map's expression
	inner := map[int64]bool{}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.SelectKind && e.AsSelect().Operand().Kind() == ast.IdentKind {
			inner[e.AsSelect().Operand().ID()] = true
		}
		if of, key, isKnown := entry(e); isKnown {
			by[of.ID()] = key
		}
	}))
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		key, isKnown := by[e.ID()]
		switch name := nameOf(e); {
		case name == variableConfig:
			found.Config.add(key, isKnown)
		case name == variableAddOn+".labels":
			found.Labels.add(key, isKnown)
		case name == variableAddOn+".annotations":
			found.Annotations.add(key, isKnown)
		case name == variableAddOn && !inner[e.ID()]: // the whole variable
			found.Labels.All, found.Annotations.All = true, true
		}
	}))
	return found
}

// nameOf is the name of a variable, or of a field of one; empty for anything else.
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

// entry reports which entry an expression reads of which map: config.a, config['a'],
// config.?a, config[?'a'], has(config.a), or 'a' in config.
func entry(e ast.Expr) (of ast.Expr, key string, isKnown bool) {
	if e.Kind() == ast.SelectKind {
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	}
	if e.Kind() != ast.CallKind {
		return nil, "", false
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		key, isKnown = literal(args[1])
		return args[0], key, isKnown
	case operators.In:
		key, isKnown = literal(args[0])
		return args[1], key, isKnown
	default:
		return nil, "", false
	}
}

func literal(e ast.Expr) (text string, isText bool) {
	if e.Kind() != ast.LiteralKind || e.AsLiteral().Type() != cel.StringType {
		return "", false
	}
	text, isText = e.AsLiteral().Value().(string)
	return text, isText
}
