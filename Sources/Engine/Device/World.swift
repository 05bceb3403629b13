import Crypto
import Encoding
import Profiles
import Store

/// What every device actor shares: the store, the network, the clock, and chance.
struct World: Sendable {
    let store: Store
    let network: Network
    let metadata: MetadataCache
    let clock: any WallClock
    let entropy: Entropy
    /// The words of the wire.
    let profile: SenseCryptProfile
    let journal: Journal
    let assertions = ClientAssertionBook()
    let underWay = UnderWay()
    let ended = EndedFlows()
    let secrets = SharedSecrets()
    /// Longest a call may take, in milliseconds.
    let callTimeout: Int
}
