package suggest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ocmaddonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/suggestion"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// pageSize is the number of templates or works in a page of a list. A template or a work has up to 1.5 MiB.
const pageSize = 20

// workloads are the workloads of all add-ons.
type workloads struct {
	items []suggestion.Workload
	// images has the image of each AddOnTemplate, by the name of the template. It is empty for a template without a Deployment.
	images map[string]string
	// worksErr is the error for which ManifestWorks could not be read. It is nil if they were read.
	worksErr error
	// problems describe manifests that cannot be read.
	problems []string
}

// load reads the templates of add-ons. Of an add-on without a template, it reads the works on the first managed cluster that has the
// add-on, because the works of an add-on are much the same on all clusters.
func load(ctx context.Context, hub client.Reader, installed []*addonv1alpha1.ManagedClusterAddOn) (*workloads, error) {
	result := workloads{images: map[string]string{}}
	hasWorkload := map[string]bool{}
	if err := snapshot.Each(ctx, hub, "addontemplates", "", func(list *ocmaddonv1alpha1.AddOnTemplateList) {
		for i := range list.Items {
			template := &list.Items[i]
			hasWorkload[template.Spec.AddonName] = true
			result.add(template.Spec.AddonName, "AddOnTemplate "+text.Name(template.Name), template.Spec.AgentSpec.Workload.Manifests)
			result.images[template.Name], _ = suggestion.Image(result.items[len(result.items)-1].Manifests)
		}
	}, client.Limit(pageSize)); err != nil {
		return nil, err
	}
	for _, addOn := range installed {
		if hasWorkload[addOn.Name] {
			continue
		}
		hasWorkload[addOn.Name] = true
		err := snapshot.Each(ctx, hub, "manifestworks", addOn.Namespace, func(list *workv1.ManifestWorkList) {
			for j := range list.Items {
				work := &list.Items[j]
				result.add(addOn.Name, fmt.Sprintf("ManifestWork %s/%s", work.Namespace, text.Name(work.Name)), work.Spec.Workload.Manifests)
			}
		}, client.MatchingLabels{ocmaddonv1alpha1.AddonLabelKey: addOn.Name}, client.Limit(pageSize))
		switch {
		case apierrors.IsForbidden(err):
			result.worksErr = err
		case err != nil:
			return nil, err
		}
	}
	return &result, nil
}

func (w *workloads) add(addOn, source string, manifests []workv1.Manifest) {
	decoded, problems := decode(source, manifests)
	w.problems = append(w.problems, problems...)
	w.items = append(w.items, suggestion.Workload{AddOn: addOn, Source: source, Manifests: decoded})
}

// decode returns the manifests of an object, and describes the manifests that cannot be read.
func decode(source string, manifests []workv1.Manifest) ([]unstructured.Unstructured, []string) {
	var decoded []unstructured.Unstructured
	var problems []string
	for i := range manifests {
		var manifest unstructured.Unstructured
		if err := manifest.UnmarshalJSON(manifests[i].Raw); err != nil {
			problems = append(problems, text.OneLine(fmt.Sprintf("skipped manifest %d of %s: %v", i, source, err)))
			continue
		}
		decoded = append(decoded, manifest)
	}
	return decoded, problems
}
