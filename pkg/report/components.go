package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ComponentVersions are the versions of the plugin and of the components of a hub.
type ComponentVersions struct {
	metav1.TypeMeta `json:",inline"`
	ClientVersion   ClientVersion `json:"clientVersion"`
	// Hub is nil if the hub was not requested, or did not respond.
	Hub *HubVersions `json:"hub,omitempty"`
}

// ClientVersion is the version of the plugin.
type ClientVersion struct {
	Version   string `json:"version"`
	GoVersion string `json:"goVersion"`
	// Platform is the operating system and the architecture.
	Platform string `json:"platform"`
}

// HubVersions are the versions of the components of a hub.
type HubVersions struct {
	Address string `json:"address"`
	// Components are Kubernetes, Open Cluster Management, and the parts of Interlock.
	Components []Component `json:"components"`
}

// Component is a component of a hub.
type Component struct {
	Name   string          `json:"name"`
	Status ComponentStatus `json:"status"`
	// Version is empty if it is not known.
	Version string `json:"version,omitempty"`
	// Message explains the status Unknown.
	Message string `json:"message,omitempty"`
}

// ComponentStatus is whether a component is installed.
type ComponentStatus string

// The statuses of a component.
const (
	ComponentInstalled    ComponentStatus = "Installed"
	ComponentNotInstalled ComponentStatus = "NotInstalled"
	// ComponentUnknown means that the component could not be read, mostly because the user has no right to.
	ComponentUnknown ComponentStatus = "Unknown"
)

// NewComponentVersions returns the versions without a hub.
func NewComponentVersions(client ClientVersion) *ComponentVersions {
	return &ComponentVersions{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "ComponentVersions"}, ClientVersion: client}
}
