// Package names has the names that several parts of Interlock share.
package names

const (
	// AddonManager is the field manager of addon-manager's writes, the source of its
	// events, the value of the label ManagedBy on its objects, and the name of the
	// lease of its leader.
	AddonManager = "interlock-addon-manager"
	// AddonAgent is the field manager of addon-agent's writes.
	AddonAgent = "interlock-addon-agent"
	// WebhookCA names the ConfigMap in which addon-manager webhook publishes its CA.
	WebhookCA = "interlock-webhook-ca"
	// ManagedBy is the label that names the component that made an object.
	ManagedBy = "app.kubernetes.io/managed-by"
)
