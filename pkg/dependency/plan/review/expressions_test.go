package review

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestDependenciesAndExpressionsAreLimited(t *testing.T) {
	declared := func(expressions, selectors int) (addonv1alpha1.ClusterManagementAddOn, string) {
		addOn := fixture.Registration("x")
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
	maximum, _ := declared(16, 100)
	if review := new(Reviewer).Review(&maximum, nil, nil); len(review.Denials) > 0 {
		t.Errorf("16 expressions and 100 selectors are denied: %v", review.Denials)
	}
	if review := new(Reviewer).Review(&fixture.ConditionalHub(257, 256)[0], nil, nil); len(review.Denials) > 0 {
		t.Errorf("256 dependencies are denied: %v", review.Denials)
	}
	tooMany, manyText := declared(17, 0)
	long, longText := declared(16, 0)
	for i := range long.Spec.Dependencies { // of characters that have two bytes
		written := long.Spec.Dependencies[i].When.Expression
		long.Spec.Dependencies[i].When.Expression = "'" + strings.Repeat("é", 2048) + "' != ''"
		longText = strings.Replace(longText, strconv.Quote(written), strconv.Quote(long.Spec.Dependencies[i].When.Expression), 1)
	}
	edges, _ := declared(0, 257)
	edgesText := strings.Repeat("- {name: x}\n", 257)
	for _, test := range []struct {
		inField addonv1alpha1.ClusterManagementAddOn
		text    string
		want    string
	}{
		{tooMany, manyText, ": Invalid value: 17 expressions are in when, config and settings; at most 16 may be"},
		{long, longText, ": Invalid value: all expressions together have 65664 bytes; at most 65536 may"},
		{edges, edgesText, ": Too many: 257: must have at most 256 items"},
	} {
		for _, addOn := range []addonv1alpha1.ClusterManagementAddOn{test.inField, fixture.Annotated("x", test.text)} {
			review := new(Reviewer).Review(&addOn, nil, nil)
			path := declaration.FieldPath
			if len(addOn.Annotations) > 0 {
				path = declaration.AnnotationPath
			}
			want := path.String() + test.want
			if len(review.Denials) != 1 || !strings.HasPrefix(review.Denials[0], want) {
				t.Errorf("denials %q, want %q", review.Denials, want)
			}
			stored := catalog.New([]addonv1alpha1.ClusterManagementAddOn{addOn})
			if problems := stored.Problems("x"); stored.Valid("x") || len(problems) != 1 || !strings.HasPrefix(problems[0].Message, want) {
				t.Errorf("one that is stored already is used: %v", problems)
			}
		}
	}
}
