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

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/regularfile"
)

// kind marks a file as a snapshot.
var kind = metav1.TypeMeta{APIVersion: dependencyv1alpha1.GroupVersion.String(), Kind: "FleetSnapshot"}

type document struct {
	metav1.TypeMeta
	Content
}

// members are the members of a file, in the order in which they are written.
func (d *document) members() []member {
	return []member{
		value("apiVersion", &d.APIVersion), value("kind", &d.Kind), value("taken", &d.Taken), optional("ocmVersion", &d.OCMVersion),
		optional("addonManager", &d.Manager),
		list("clusterManagementAddOns", &d.Registrations, unreduced),
		list("managedClusterAddOns", &d.AddOns, withNamespace),
		list("managedClusters", &d.Clusters, LeanCluster),
		optional("managedClusterFacts", &d.Facts), optional("managedClusterFactsNotServed", &d.FactsNotServed),
		optional("addOnDeploymentConfigs", &d.Configs),
		optional("addOnTemplates", &d.Templates),
		optional("addOnInstallations", &d.Installations),
		optional("placementDecisions", &d.Decisions), optional("placementDecisionsRead", &d.DecisionsRead),
		optional("hubAPIs", &d.HubAPIs), optional("hostingClusters", &d.Hosting),
		optional("addOnDependencyPolicies", &d.Policies), optional("addOnDependencyPoliciesUnread", &d.PoliciesUnread),
	}
}

// LeanCluster keeps of a managed cluster what verdicts and Placements rest on.
func LeanCluster(full *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	lean := fleet.LeanCluster(full)
	lean.Spec.Taints = full.Spec.Taints
	return lean
}

// Write writes the content as JSON, without what looks like a credential.
func (c Content) Write(to io.Writer) error {
	out := bufio.NewWriter(to)
	written := document{TypeMeta: kind, Content: c.redacted()}
	if err := encode(out, written.members()); err != nil {
		return err
	}
	return out.Flush()
}

// Read reads a file that Write wrote, or the same as YAML; of the path -, it reads in.
func Read(path string, in io.Reader) (*Snapshot, error) {
	if path != "-" {
		file, err := regularfile.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	var read document
	if err := decode(bufio.NewReader(in), &read); err != nil {
		return nil, fmt.Errorf("%s is no snapshot: %w", path, err)
	}
	if read.TypeMeta != kind {
		return nil, fmt.Errorf("%s is no snapshot: it has kind %q and apiVersion %q; kubectl addon snapshot writes one", path, read.Kind, read.APIVersion)
	}
	return New(read.Content), nil
}

// decode reads JSON as it comes. YAML takes several times its size in memory.
func decode(from *bufio.Reader, into *document) error {
	if first, err := from.Peek(1); err == nil && first[0] == '{' {
		decoder := json.NewDecoder(from)
		if err := decodeMembers(decoder, into.members()); err != nil {
			return err
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return errors.New("there is more after its end: was it written twice?")
		}
		return nil
	}
	documents := utilyaml.NewYAMLReader(from)
	raw, err := documents.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if more, err := documents.Read(); err == nil && len(bytes.TrimSpace(more)) > 0 {
		return errors.New("there is more after its end: it has several YAML documents")
	}
	converted, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return err
	}
	if string(converted) == "null" {
		return nil
	}
	return decodeMembers(json.NewDecoder(bytes.NewReader(converted)), into.members())
}
