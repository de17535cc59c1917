package installation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestSetConsent(t *testing.T) {
	setLabel := func(i *Installation) { i.LabeledSince = noon }
	for name, test := range map[string]struct {
		consent           catalog.Consent
		labeled           bool
		stored            *Installation
		consents, byLabel bool
	}{
		"NoConsent":               {consent: catalog.NoConsent},
		"Annotation":              {consent: catalog.ByAnnotation, consents: true},
		"AnnotationAndInstalled":  {consent: catalog.ByAnnotation, stored: stored(installed), consents: true},
		"Label":                   {consent: catalog.ByLabel, consents: true, byLabel: true},
		"LabelAndLabeled":         {consent: catalog.ByLabel, labeled: true, stored: stored(installed, setLabel), consents: true, byLabel: true},
		"LabelOfAnotherWriter":    {consent: catalog.ByAnnotation, labeled: true, consents: true},
		"LabelBeforeOurs":         {consent: catalog.ByAnnotation, labeled: true, stored: stored(installing), consents: true},
		"PlacementsPaused":        {consent: catalog.NoConsent, labeled: true, stored: stored(installed, setLabel), byLabel: true},
		"PlacementsUnknown":       {consent: catalog.ConsentUnknown, labeled: true, stored: stored(installed, setLabel), byLabel: true},
		"PausedByAnnotation":      {consent: catalog.ByAnnotation, labeled: true, stored: stored(installed, setLabel), byLabel: true},
		"PausedAndLabelTakenAway": {consent: catalog.ByAnnotation, stored: stored(installed, setLabel), consents: true},
	} {
		t.Run(name, func(t *testing.T) {
			facts := Inputs{Stored: test.stored}
			facts.SetConsent(test.consent, test.labeled)
			want := Inputs{Stored: test.stored, Labeled: test.labeled, Consents: test.consents, ByLabel: test.byLabel}
			if diff := cmp.Diff(want, facts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAwaited(t *testing.T) {
	registered := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "labeled", "{installStrategy: {type: Placements, placements: [{namespace: places, name: labeled}]}}"),
		fixture.Specified(t, "paused", "{installStrategy: {type: Manual}}"),
		fixture.Specified(t, "self", "{installStrategy: {type: Placements, placements: [{namespace: places, name: labeled}]}}"),
	}
	expression := func(addOn string) string {
		return "{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: " + catalog.InstallLabel(addOn) + ", operator: Exists}]}}}"
	}
	placements := fixture.Decoded[[]clusterv1beta1.Placement](t, `[{metadata: {namespace: places, name: labeled}, spec: {
  tolerations: [{operator: Exists}], predicates: [`+expression("labeled")+", "+expression("self")+"]}}]")
	consented := catalog.New(registered).Consented(catalog.Placements{Items: placements})
	got := Awaited(consented, []string{"labeled", "paused", "self", "unregistered"}, "self")
	if diff := cmp.Diff([]string{"labeled"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
