package installation

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// SetConsent sets how the owner of the add-on lets Interlock install it, and whether the managed cluster has the label that
// installs it. A label that Interlock has set counts as long as it is there: if the owner pauses the Placements that select
// it, the add-on is installed by the label still, and nobody consents to a change.
func (inputs *Inputs) SetConsent(consent catalog.Consent, labeled bool) {
	ours := labeled && inputs.Stored != nil && !inputs.Stored.LabeledSince.IsZero()
	inputs.Labeled = labeled
	inputs.ByLabel = consent == catalog.ByLabel || labeled && consent != catalog.ByAnnotation || ours
	inputs.Consents = consent == catalog.ByLabel || consent == catalog.ByAnnotation && !ours
}

// Awaited returns the add-ons that OCM installs on a managed cluster because of its labels, except for one add-on. labeled
// has the add-ons with such a label. Without a consent, OCM does not install them.
func Awaited(c *catalog.Catalog, labeled []string, except string) []string {
	return slices.DeleteFunc(slices.Clone(labeled), func(addOn string) bool {
		return addOn == except || c.Consent(addOn) != catalog.ByLabel
	})
}
