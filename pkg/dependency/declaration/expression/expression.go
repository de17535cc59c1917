// Package expression compiles and evaluates the CEL expressions of edges. The cost
// of each evaluation is bounded.
package expression

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
)

// CostLimit is the highest cost of an evaluation, in CEL's units. It is reached within
// some milliseconds.
const CostLimit = 100_000

var errTooCostly = errors.New("it takes too many steps")

var errNotBool = errors.New("must be true or false, as in config.?mode.orValue('') == 'proxy'")

// Variables are the variables of an expression. They have declared types, so that an unknown
// field is an error at registration instead of on a managed cluster.
type Variables struct {
	Cluster Cluster
	AddOn   AddOn
	// Config has the customizedVariables of the first AddOnDeploymentConfig. In when, it is the config of the dependent. In
	// config.expression, it is the config of the dependency.
	Config map[string]string
	// Dependencies has the dependencies of the dependent, by the names of their edges.
	Dependencies map[string]Dependency
}

// Dependency is a dependency of the dependent.
type Dependency struct {
	// Config has the customizedVariables of its first AddOnDeploymentConfig.
	Config map[string]string `cel:"config"`
}

// Cluster is the variable cluster: the managed cluster.
type Cluster struct {
	Name    string            `cel:"name"`
	Labels  map[string]string `cel:"labels"`
	Claims  map[string]string `cel:"claims"`
	Version string            `cel:"version"`
}

// AddOn is the variable addOn: the dependent on that cluster.
type AddOn struct {
	Name        string            `cel:"name"`
	Labels      map[string]string `cel:"labels"`
	Annotations map[string]string `cel:"annotations"`
	// Version is the running version. It is empty if no version is reported.
	Version string `cel:"version"`
}

const (
	variableCluster = "cluster"
	variableAddOn   = "addOn"
	variableConfig  = "config"

	variableDependencies = "dependencies"
)

// environment returns the environment of all expressions. It has no extension with which a short text can produce a much
// longer one, because the cost limit does not count that.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(append(semverFunctions(),
		cel.OptionalTypes(), // before the types below, whose provider takes no more
		// Without the macros optMap and optFlatMap: each doubles its operand, so the compilation
		// of some dozens in a row would take years.
		cel.ClearMacros(), cel.Macros(cel.StandardMacros...),
		cel.ParserRecursionLimit(maxNesting),
		ext.NativeTypes(ext.ParseStructTags(true), reflect.TypeFor[Cluster](), reflect.TypeFor[AddOn](), reflect.TypeFor[Dependency]()),
		cel.Variable(variableCluster, cel.ObjectType("expression.Cluster")),
		cel.Variable(variableAddOn, cel.ObjectType("expression.AddOn")),
		cel.Variable(variableConfig, cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable(variableDependencies, cel.MapType(cel.StringType, cel.ObjectType("expression.Dependency"))),
	)...)
})

// Expression is a compiled condition. It is safe for concurrent use.
type Expression struct {
	program cel.Program
	inputs  input.Set
	keys    Keys
	addOn   bool
	// dependencies has the names of the edges whose add-ons the expression reads.
	dependencies Names
}

// Inputs returns the inputs that the expression reads.
func (e *Expression) Inputs() input.Set { return e.inputs }

// ReadsAddOn reports whether the expression reads the variable addOn.
func (e *Expression) ReadsAddOn() bool { return e.addOn }

// Dependencies returns the names of the edges whose add-ons the expression reads.
func (e *Expression) Dependencies() Names { return e.dependencies }

// Compile compiles a Boolean CEL expression. The error explains the problem on one line.
func Compile(text string) (*Expression, error) { return compile(text, errNotBool, cel.BoolType) }

// compile compiles a CEL expression with one of the result types. For another type, it returns errType.
func compile(text string, errType error, results ...*cel.Type) (*Expression, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("prepare CEL: %w", err) // it fails at the first use, and so in every test
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, errors.New(issueText(issues))
	}
	if macroDepth(parsed.NativeRep().Expr()) > maxMacroDepth {
		return nil, errTooLarge
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, errors.New(issueText(issues))
	}
	if !slices.ContainsFunc(results, checked.OutputType().IsExactType) {
		return nil, errType
	}
	if err := checkLimits(checked.NativeRep()); err != nil {
		return nil, err
	}
	program, err := env.Program(checked, cel.CostTracking(bySize{}), cel.CostLimit(CostLimit))
	if err != nil {
		return nil, err
	}
	compiled := &Expression{
		program:      program,
		inputs:       inputsOf(checked.NativeRep()),
		keys:         keysOf(checked.NativeRep()),
		dependencies: dependenciesOf(checked.NativeRep()),
	}
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		compiled.addOn = compiled.addOn || e.Kind() == ast.IdentKind && e.AsIdent() == variableAddOn
	}))
	return compiled, nil
}

// issueText returns the errors of the compiler on one line, without the quoted source.
func issueText(issues *cel.Issues) string {
	var texts []string
	for _, issue := range issues.Errors() {
		texts = append(texts, fmt.Sprintf("column %d: %s", issue.Location.Column()+1, issue.Message))
	}
	return strings.Join(texts, "; ")
}

// Evaluate returns the value of the expression and the cost of the evaluation.
func (e *Expression) Evaluate(variables Variables) (bool, uint64, error) {
	value, cost, err := e.evaluate(variables)
	if err != nil {
		return false, cost, err
	}
	holds, isBool := value.Value().(bool)
	if !isBool {
		return false, cost, errNotBool
	}
	return holds, cost, nil
}

// evaluate returns the value of the expression and the cost of the evaluation.
func (e *Expression) evaluate(variables Variables) (ref.Val, uint64, error) {
	cluster, addOn := variables.Cluster, variables.AddOn
	cluster.Labels, cluster.Claims = orEmpty(cluster.Labels), orEmpty(cluster.Claims)
	addOn.Labels, addOn.Annotations = orEmpty(addOn.Labels), orEmpty(addOn.Annotations)
	dependencies := noDependencies
	if len(variables.Dependencies) > 0 {
		dependencies = make(map[string]*Dependency, len(variables.Dependencies))
		for name, dependency := range variables.Dependencies {
			dependencies[name] = &Dependency{Config: orEmpty(dependency.Config)}
		}
	}
	value, details, err := e.program.Eval(map[string]any{
		variableCluster:      &cluster,
		variableAddOn:        &addOn,
		variableConfig:       orEmpty(variables.Config),
		variableDependencies: dependencies,
	})
	if canceled := (interpreter.EvalCancelledError{}); errors.As(err, &canceled) && canceled.Cause == interpreter.CostLimitExceeded {
		return nil, CostLimit, errTooCostly
	}
	var cost uint64
	if actual := details.ActualCost(); actual != nil {
		cost = *actual
	}
	return value, cost, err
}

var noDependencies = map[string]*Dependency{}

func orEmpty(values map[string]string) map[string]string {
	if values == nil {
		return map[string]string{}
	}
	return values
}

// inputsOf returns the inputs that an expression reads.
func inputsOf(checked *ast.AST) input.Set {
	var inputs input.Set
	selected := map[int64]bool{} // variables that are only read by field
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.IdentKind {
			return
		}
		operand := e.AsSelect().Operand()
		selected[operand.ID()] = true
		inputs |= fieldInputs[operand.AsIdent()+"."+e.AsSelect().FieldName()]
	}))
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() != ast.IdentKind:
		case e.AsIdent() == variableConfig:
			inputs |= input.Config
		case !selected[e.ID()]:
			inputs |= variableInputs[e.AsIdent()]
		}
	}))
	return inputs
}

// ownVersion has the inputs for the version of the add-on.
const ownVersion = input.Version | input.Facts

var (
	fieldInputs = map[string]input.Set{
		"cluster.labels": input.Labels, "cluster.claims": input.Claims, "cluster.version": input.Kubernetes,
		"addOn.labels": input.AddOn, "addOn.annotations": input.AddOn,
		"addOn.version": ownVersion,
	}
	variableInputs = map[string]input.Set{
		variableCluster: input.Labels | input.Claims | input.Kubernetes, variableAddOn: input.AddOn | ownVersion,
	}
)
