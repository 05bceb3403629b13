import Crypto
import Encoding
import Profiles
import Store

/// What every device actor shares: the store, the network, the clock, and chance.
struct World: Sendable {
    let store: Store
    let network: Network
    /// Metadata asked for by nobody's phone; each device has a cache of its own.
    let metadata = MetadataCache()
    let clock: any WallClock
    let entropy: Entropy
    /// What each device draws from.
    let draws: DeviceEntropy
    /// The words of the wire.
    let profile: SenseCryptProfile
    let journal = Journal()
    let assertions = ClientAssertionBook()
    let underWay = UnderWay()
    let ended = EndedFlows()
    let secrets = SharedSecrets()
    /// The authorities that vouch for the devices.
    let roots: RootsShelf
    let codes = OpenCodes()
    /// Longest a call may take, in milliseconds.
    let callTimeout: Int
}
