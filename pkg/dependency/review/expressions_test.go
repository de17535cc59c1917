package review

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestReviewCompilesADeclarationOnce(t *testing.T) {
	hub := fixture.ConditionalHub(4, 3)
	var reviewer Reviewer
	compiled := func(addOn string) *expression.Expression {
		return reviewer.latest.Load().Declaration(addOn).Edges[0].When.Expression
	}
	reviewer.Review(&hub[0], nil, hub[1:])
	before := compiled(hub[1].Name)
	added := fixture.Registration("added", fixture.Required(hub[1].Name))
	if review := reviewer.Review(&added, nil, hub); len(review.Denials) > 0 {
		t.Fatalf("denied: %v", review.Denials)
	}
	if compiled(hub[1].Name) != before {
		t.Error("compiled again although it has not changed")
	}
	hub[1].Spec.Dependencies = []addonv1alpha1.AddonDependency{fixture.Gated(hub[2].Name, "on")}
	reviewer.Review(&added, nil, hub)
	if compiled(hub[1].Name) == before {
		t.Error("not compiled again after a change")
	}
}

func TestNumberOfExpressionsIsLimited(t *testing.T) {
	declared := func(expressions, selectors int) (addOn addonv1alpha1.ClusterManagementAddOn, annotation string) {
		addOn = fixture.Registration("x")
		var text strings.Builder
		for i := range expressions + selectors {
			edge := fixture.Gated(fmt.Sprintf("addon-%03d", i), "on")
			if i >= expressions {
				edge.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"on": ""}}}
			} else {
				fmt.Fprintf(&text, "- {name: %s, when: {expression: %q}}\n", edge.Name, edge.When.Expression)
			}
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, edge)
		}
		return addOn, text.String()
	}
	most, _ := declared(16, 100)
	if review := new(Reviewer).Review(&most, nil, nil); len(review.Denials) > 0 {
		t.Errorf("16 expressions and 100 selectors are denied: %v", review.Denials)
	}
	inField, text := declared(17, 0)
	for _, addOn := range []addonv1alpha1.ClusterManagementAddOn{inField, fixture.Annotated("x", text)} {
		review := new(Reviewer).Review(&addOn, nil, nil)
		path := declaration.FieldPath
		if len(addOn.Annotations) > 0 {
			path = declaration.AnnotationPath
		}
		want := path.String() + ": 17 dependencies have when.expression; at most 16 may"
		if len(review.Denials) != 1 || !strings.HasPrefix(review.Denials[0], want) {
			t.Errorf("denials %q, want %q", review.Denials, want)
		}
		stored := catalog.New([]addonv1alpha1.ClusterManagementAddOn{addOn})
		if problems := stored.Problems("x"); stored.Known("x") || len(problems) != 1 || !strings.HasPrefix(problems[0].Message, want) {
			t.Errorf("one that is stored already is used: %v", problems)
		}
	}
}
