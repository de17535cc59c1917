// Package names has the names that several parts of Interlock share.
package names

const (
	// AddonManager is the field manager of addon-manager's writes, and the source of
	// its events.
	AddonManager = "interlock-addon-manager"
	// AddonAgent is the field manager of addon-agent's writes.
	AddonAgent = "interlock-addon-agent"
)
