package snapshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// kind identifies a file as a snapshot.
var kind = metav1.TypeMeta{APIVersion: dependencyv1alpha1.GroupVersion.String(), Kind: "FleetSnapshot"}

type document struct {
	metav1.TypeMeta
	Content
}

// members returns the members of a file, in the order in which they are written.
func (d *document) members() []member {
	return []member{
		value("apiVersion", &d.APIVersion), value("kind", &d.Kind), value("taken", &d.Taken), optional("ocmVersion", &d.OCMVersion),
		optional("ocmVersionUnread", &d.OCMVersionUnread), optional("withoutInterlock", &d.WithoutInterlock),
		optional("addonManager", &d.Manager),
		list("clusterManagementAddOns", &d.Registrations, object(unreduced[addonv1alpha1.ClusterManagementAddOn])),
		list("managedClusterAddOns", &d.AddOns, pointer(LeanAddOn)),
		list("managedClusters", &d.Clusters, object(LeanCluster)),
		optional("managedClusterFacts", &d.Facts), optional("managedClusterFactsNotServed", &d.FactsNotServed),
		optional("addOnDeploymentConfigs", &d.Configs),
		optional("addOnTemplates", &d.Templates),
		optional("addOnInstallations", &d.Installations),
		optional("placementDecisions", &d.Decisions), optional("placementDecisionsRead", &d.DecisionsRead),
		optional("placements", &d.Placements), optional("placementsRead", &d.PlacementsRead),
		optional("hubAPIs", &d.HubAPIs), optional("hostingClusters", &d.Hosting),
		optional("addOnDependencyPolicies", &d.Policies), optional("addOnDependencyPoliciesUnread", &d.PoliciesUnread),
	}
}

// LeanCluster returns the parts of a managed cluster that verdicts and Placements depend on.
func LeanCluster(full *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	lean := fleet.LeanCluster(full)
	lean.Spec.Taints = full.Spec.Taints
	return lean
}

// Write writes the content as JSON, without strings that look like credentials.
func (c Content) Write(writer io.Writer) error {
	out := bufio.NewWriter(writer)
	written := document{TypeMeta: kind, Content: c.redacted()}
	if err := encode(out, written.members()); err != nil {
		return err
	}
	return out.Flush()
}

// Read reads a file that Write wrote, or the same content as YAML. If the path is -, it reads stdin.
func Read(path string, stdin io.Reader) (*Snapshot, error) {
	reader := stdin
	if path != "-" {
		file, err := regularfile.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		reader = file
	}
	var read document
	if err := decode(bufio.NewReader(reader), &read); err != nil {
		return nil, fmt.Errorf("%s is no snapshot: %w", path, err)
	}
	if read.TypeMeta != kind {
		return nil, fmt.Errorf("%s is no snapshot: it has kind %q and apiVersion %q; kubectl addon snapshot writes one", path, read.Kind, read.APIVersion)
	}
	return New(read.Content), nil
}

// decode reads JSON as a stream. YAML takes several times its size in memory.
func decode(reader *bufio.Reader, target *document) error {
	if first, err := reader.Peek(1); err == nil && first[0] == '{' {
		decoder := json.NewDecoder(reader)
		if err := decodeMembers(decoder, target.members()); err != nil {
			return err
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return errors.New("there is more after its end: was it written twice?")
		}
		return nil
	}
	documents := utilyaml.NewYAMLReader(reader)
	raw, err := documents.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if second, err := documents.Read(); err == nil && len(bytes.TrimSpace(second)) > 0 {
		return errors.New("there is more after its end: it has several YAML documents")
	}
	converted, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return err
	}
	if string(converted) == "null" {
		return nil
	}
	return decodeMembers(json.NewDecoder(bytes.NewReader(converted)), target.members())
}
