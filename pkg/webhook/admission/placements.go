package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxPlacements is how many Placements of a registration are looked up. Few have more than one.
	maxPlacements = 10
	// placementsTime is how long the lookup of all of them may take.
	placementsTime = 500 * time.Millisecond
)

// placementsPath is where a registration lists Placements, in every version.
var placementsPath = []string{"spec", "installStrategy", "placements"}

// missingPlacements warns of Placements that do not exist: the add-on is installed on no managed
// cluster because of them, and nothing else says so. Placements that an update leaves alone are not
// looked up. What cannot be looked up is taken to exist.
func missingPlacements(ctx context.Context, reader client.Reader, request admission.Request) (warnings []string) {
	var strategy string
	err := decodePart(request.Object.Raw, &strategy, "spec", "installStrategy", "type")
	if err != nil || strategy != ocmv1alpha1.AddonInstallStrategyPlacements {
		return nil
	}
	var before, after []ocmv1alpha1.PlacementRef
	if decodePart(request.Object.Raw, &after, placementsPath...) != nil {
		return nil
	}
	if request.Operation == admissionv1.Update && decodePart(request.OldObject.Raw, &before, placementsPath...) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, placementsTime)
	defer cancel()
	for i, placement := range after {
		if i == maxPlacements {
			break
		}
		if slices.Contains(before, placement) || placement.Name == "" || placement.Namespace == "" {
			continue
		}
		key := client.ObjectKey{Namespace: placement.Namespace, Name: placement.Name}
		if err := reader.Get(ctx, key, &clusterv1beta1.Placement{}); !apierrors.IsNotFound(err) {
			continue
		}
		path := field.NewPath(placementsPath[0], placementsPath[1:]...).Index(i)
		warnings = append(warnings, fmt.Sprintf("%s: there is no Placement %q in namespace %q, so it installs the add-on nowhere",
			path, text.Name(placement.Name), text.Name(placement.Namespace)))
	}
	return warnings
}
