package dependency

import (
	"errors"
	"fmt"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// applicability is a compiled `when`. Both parts must hold; either may be nil.
type applicability struct {
	selector   labels.Selector
	expression *expression
}

// compileWhen reads when, found at path; the errors name field and value.
func compileWhen(when *addonv1alpha1.DependencyWhen, path *field.Path) (*applicability, field.ErrorList) {
	if when == nil {
		return nil, nil
	}
	var errs field.ErrorList
	compiled := &applicability{}
	if when.ClusterSelector != nil {
		path := path.Child("clusterSelector")
		errs = append(errs, metavalidation.ValidateLabelSelector(when.ClusterSelector, metavalidation.LabelSelectorValidationOptions{}, path)...)
		selector, err := metav1.LabelSelectorAsSelector(when.ClusterSelector)
		if err != nil && len(errs) == 0 {
			errs = append(errs, field.Invalid(path, shorten(when.ClusterSelector.String(), maxQuoted), err.Error()))
		}
		compiled.selector = selector
	}
	if when.Expression != "" && utf8.RuneCountInString(when.Expression) <= maxExpression {
		expression, err := compileExpression(when.Expression)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("expression"), shorten(when.Expression, maxQuoted), err.Error()))
		}
		compiled.expression = expression
	}
	return compiled, errs
}

func (a *applicability) uses() Uses {
	var uses Uses
	if a.selector != nil {
		uses |= UsesLabels
	}
	if a.expression != nil {
		uses |= a.expression.uses
	}
	return uses
}

// errConfigUnread: the variables that an expression needs are not known yet.
var errConfigUnread = errors.New("the add-on's AddOnDeploymentConfigs could not be read yet")

// applies tells whether an edge of the named add-on applies on the cluster.
// Where the expression fails it does, and the error says why; errConfigUnread
// alone says that it is not known.
func (a *applicability) applies(addOn string, cluster *Cluster, observe func(addOn string) Observation) (bool, error) {
	if a.selector != nil && !a.selector.Matches(labels.Set(cluster.Labels)) {
		return false, nil
	}
	if a.expression == nil {
		return true, nil
	}
	self := Observation{}
	if a.expression.uses.Any(UsesAddOn | UsesConfig) {
		self = observe(addOn)
	}
	if a.expression.uses.Any(UsesConfig) && self.ConfigUnread {
		return true, errConfigUnread
	}
	holds, err := a.expression.evaluate(cluster, self, addOn)
	if err != nil {
		return true, fmt.Errorf("when.expression failed: %w", err)
	}
	return holds, nil
}
