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

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/placement"
	"open-cluster-management.io/interlock/pkg/regularfile"
	"open-cluster-management.io/interlock/pkg/report"
)

// placed is a Placement in a file, and the ManagedClusterSetBindings beside it.
type placed struct {
	placement *clusterv1beta1.Placement
	bindings  []clusterv1beta2.ManagedClusterSetBinding
}

// readPlacement reads the one Placement of a file; of the path -, it reads in.
func readPlacement(path string, in io.Reader) (*placed, error) {
	content, err := regularfile.ReadAll(path, in)
	if err != nil {
		return nil, err
	}
	var read placed
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err := errors.Join(err, read.add(document)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if read.placement == nil {
		return nil, fmt.Errorf("%s has no Placement of %s", path, clusterv1beta1.GroupName)
	}
	return &read, nil
}

func (p *placed) add(document []byte) error {
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

// selects finds what the Placement selects of the fleet. hasAll: the snapshot has all clusters.
func (p *placed) selects(ctx context.Context, of *snapshot.Snapshot, hasAll bool, hub client.Reader) (*report.Placed, error) {
	from := placement.Fleet{Clusters: of.Clusters, Now: of.Taken}
	var notes []string
	if hub == nil {
		from.Sets, from.Bound = placement.SetsByLabel(of.Clusters)
		notes = append(notes, "a snapshot has no ManagedClusterSets and no bindings: clusters are in the set of their label, and all sets count as bound")
		if p.hasExpressions() {
			notes = append(notes, "of managed clusters, a snapshot has labels, claims, taints and the version of Kubernetes: for a celSelector, all else is missing")
		}
	} else if err := p.load(ctx, hub, hasAll, &from); err != nil {
		return nil, err
	}
	selection, err := placement.Select(p.placement, from)
	if err != nil {
		return nil, fmt.Errorf("the Placement %q: %w", p.placement.Name, err)
	}
	return &report.Placed{
		Namespace: p.placement.Namespace, Name: p.placement.Name, Clusters: selection.Clusters, Of: len(from.Clusters),
		Notes: append(notes, selection.Notes...),
	}, nil
}

func (p *placed) hasExpressions() bool {
	return slices.ContainsFunc(p.placement.Spec.Predicates, func(one clusterv1beta1.ClusterPredicate) bool {
		return len(one.RequiredClusterSelector.CelSelector.CelExpressions) > 0
	})
}

// load reads the sets, and whole managed clusters where the snapshot does not suffice: it may
// have one of them only, and expressions may read all of a cluster.
func (p *placed) load(ctx context.Context, hub client.Reader, hasAll bool, into *placement.Fleet) error {
	if !hasAll || p.hasExpressions() {
		into.Clusters = nil
		if err := snapshot.Each(ctx, hub, "managedclusters", "", func(list *clusterv1.ManagedClusterList) {
			into.Clusters = append(into.Clusters, list.Items...)
		}); err != nil {
			return err
		}
	}
	bindings := slices.Clone(p.bindings)
	err := errors.Join(
		snapshot.Each(ctx, hub, "managedclustersets", "", func(list *clusterv1beta2.ManagedClusterSetList) {
			into.Sets = append(into.Sets, list.Items...)
		}),
		snapshot.Each(ctx, hub, "managedclustersetbindings", p.placement.Namespace, func(list *clusterv1beta2.ManagedClusterSetBindingList) {
			bindings = append(bindings, list.Items...)
		}))
	for _, binding := range bindings {
		if binding.Namespace == p.placement.Namespace {
			into.Bound = append(into.Bound, binding.Spec.ClusterSet)
		}
	}
	return err
}
