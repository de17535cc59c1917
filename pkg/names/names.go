// Package names has the names that several parts of Interlock share.
package names

const (
	// AddonManager is the field manager of addon-manager's writes, the source of its
	// events, the value of the label ManagedBy on its objects, the name of the lease of
	// its leader, and the name of its Deployment.
	AddonManager = "interlock-addon-manager"
	// AddonAgent is the field manager of addon-agent's writes.
	AddonAgent = "interlock-addon-agent"
	// AgentAddOn is the add-on that installs addon-agent.
	AgentAddOn = "interlock-agent"
	// Webhook is the source of events of addon-manager webhook.
	Webhook = "interlock-webhook"
	// WebhookCA names the ConfigMap in which addon-manager webhook publishes its CA.
	WebhookCA = "interlock-webhook-ca"
	// AddonAgentEvents is the source of addon-agent's events.
	AddonAgentEvents = "open-cluster-management.io/interlock-addon-agent"
	// ManagedBy is the label that names the component that made an object.
	ManagedBy = "app.kubernetes.io/managed-by"
	// Guard names each of the guard's objects.
	Guard = "interlock-required-dependency"
	// Gate names each of the gate rule's objects.
	Gate = "interlock-gate"
	// GraftRecord is the annotation on OCM's CRD that has the state before the graft.
	GraftRecord = "interlock.open-cluster-management.io/graft"
	// OfflinePolicy is the annotation on the lease of addon-manager's leader that has the
	// value of --offline. Readers of the hub, such as the plugin, evaluate by it.
	OfflinePolicy = "interlock.open-cluster-management.io/offline"
	// LifecycleLeader is the annotation on the lease of addon-manager's leader that has the leader's name, if it runs with
	// --lifecycle.
	LifecycleLeader = "interlock.open-cluster-management.io/lifecycle"
	// OCMVersion is the annotation on each CRD that OCM's operator installs. It has the
	// operator's version. The operator never overwrites a CRD of a higher version.
	OCMVersion = "operator.open-cluster-management.io/version"
)
