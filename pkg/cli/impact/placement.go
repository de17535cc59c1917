package impact

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/fleet/placement"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// placementFile is a file with a Placement, and with ManagedClusterSetBindings.
type placementFile struct {
	placement *clusterv1beta1.Placement
	bindings  []clusterv1beta2.ManagedClusterSetBinding
}

// readPlacement reads the only Placement of a file, or of stdin if the path is -.
func readPlacement(path string, stdin io.Reader) (*placementFile, error) {
	content, err := regularfile.ReadAll(path, stdin)
	if err != nil {
		return nil, err
	}
	var file placementFile
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err := errors.Join(err, file.add(document)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if file.placement == nil {
		return nil, fmt.Errorf("%s has no Placement of %s", path, clusterv1beta1.GroupName)
	}
	return &file, nil
}

func (p *placementFile) add(document []byte) error {
	var object struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	switch object.Kind {
	case "Placement":
		if p.placement != nil {
			return errors.New("there is more than one Placement")
		}
		p.placement = &clusterv1beta1.Placement{}
		return yaml.UnmarshalStrict(document, p.placement)
	case "ManagedClusterSetBinding":
		var binding clusterv1beta2.ManagedClusterSetBinding
		p.bindings = append(p.bindings, binding)
		return yaml.Unmarshal(document, &p.bindings[len(p.bindings)-1])
	default:
		return nil
	}
}

// selectClusters returns the managed clusters of a snapshot that the Placement selects. complete is whether the snapshot has all
// clusters of its hub. Without a hub, the snapshot alone counts.
func (p *placementFile) selectClusters(
	ctx context.Context, hubSnapshot *snapshot.Snapshot, complete bool, hub client.Reader,
) (*report.Selection, error) {
	fleet := placement.Fleet{Clusters: hubSnapshot.Clusters, Now: hubSnapshot.Taken}
	var notes []string
	if hub == nil {
		fleet.Sets, fleet.Bound = placement.SetsByLabel(hubSnapshot.Clusters)
		notes = append(notes, "a snapshot has no ManagedClusterSets and no bindings: "+
			"clusters are in the set of their label, and all sets count as bound")
		if p.hasExpressions() {
			notes = append(notes, "of managed clusters, a snapshot has labels, claims, taints and the version of Kubernetes: "+
				"for a celSelector, all else is missing")
		}
	} else if err := p.load(ctx, hub, complete, &fleet); err != nil {
		return nil, err
	}
	selection, err := placement.Select(p.placement, fleet)
	if err != nil {
		return nil, fmt.Errorf("the Placement %q: %w", p.placement.Name, err)
	}
	return &report.Selection{
		Namespace: p.placement.Namespace, Name: p.placement.Name, Clusters: selection.Clusters, Total: len(fleet.Clusters),
		Notes: append(notes, selection.Notes...),
	}, nil
}

func (p *placementFile) hasExpressions() bool {
	return slices.ContainsFunc(p.placement.Spec.Predicates, func(predicate clusterv1beta1.ClusterPredicate) bool {
		return len(predicate.RequiredClusterSelector.CelSelector.CelExpressions) > 0
	})
}

// load reads the ManagedClusterSets and their bindings. It also reads whole managed clusters if the snapshot lacks some, or if the
// Placement has expressions: these may read fields that a snapshot does not have.
func (p *placementFile) load(ctx context.Context, hub client.Reader, complete bool, fleet *placement.Fleet) error {
	if !complete || p.hasExpressions() {
		fleet.Clusters = nil
		if err := snapshot.Each(ctx, hub, "managedclusters", "", func(list *clusterv1.ManagedClusterList) {
			fleet.Clusters = append(fleet.Clusters, list.Items...)
		}); err != nil {
			return err
		}
	}
	bindings := slices.Clone(p.bindings)
	err := errors.Join(
		snapshot.Each(ctx, hub, "managedclustersets", "", func(list *clusterv1beta2.ManagedClusterSetList) {
			fleet.Sets = append(fleet.Sets, list.Items...)
		}),
		snapshot.Each(ctx, hub, "managedclustersetbindings", p.placement.Namespace, func(list *clusterv1beta2.ManagedClusterSetBindingList) {
			bindings = append(bindings, list.Items...)
		}))
	for _, binding := range bindings {
		if binding.Namespace == p.placement.Namespace {
			fleet.Bound = append(fleet.Bound, binding.Spec.ClusterSet)
		}
	}
	return err
}
