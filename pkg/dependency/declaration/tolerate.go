package declaration

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// Bounds of what an edge may tolerate. A longer outage is not a short one.
const (
	minTolerate = time.Second
	maxTolerate = 24 * time.Hour
)

// compileTolerate reads how long an edge tolerates that its add-on is not available; zero:
// not at all. The field is text, and no metav1.Duration: that is written as 2m0s where its
// author wrote 2m, so the record of a declaration would differ from it.
func compileTolerate(entry *addonv1alpha1.AddonDependency, path *field.Path) (time.Duration, field.ErrorList) {
	if entry.Tolerate == "" {
		return 0, nil
	}
	refuse := func(why string) (time.Duration, field.ErrorList) {
		return 0, field.ErrorList{field.Invalid(path, text.Excerpt(entry.Tolerate), why)}
	}
	required, optional := entry.Type == addonv1alpha1.DependencyTypeRequired, entry.Type == addonv1alpha1.DependencyTypeOptional
	if entry.API != nil || !required && !optional {
		return refuse("tolerate is for an add-on that has to be available: a Required or an Optional one")
	}
	tolerate, err := time.ParseDuration(entry.Tolerate)
	if err != nil || tolerate < minTolerate || tolerate > maxTolerate {
		return refuse(`must be a duration from 1s to 24h, such as "2m"`)
	}
	return tolerate, nil
}
