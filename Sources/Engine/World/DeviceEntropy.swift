import Crypto
import Device
import Synchronization

/// Where devices draw from: in a run with a seed each from a stretch of its own, so that what one draws does not depend
/// on what the others do.
///
/// A stretch goes on for as long as the process runs, whoever is loaded or deleted meanwhile: beginning it anew would
/// draw the same `jti` twice.
final class DeviceEntropy: Sendable {
    private let whole: Entropy
    private let stretches = Mutex<[String: Entropy]>([:])

    init(_ whole: Entropy) { self.whole = whole }

    /// The source of a device; without a seed there is one for all.
    subscript(device: DeviceID) -> Entropy { stretch("device \(device.rawValue)") }

    /// The source of whoever speaks for the client on an install, named by its key's thumbprint.
    subscript(install thumbprint: String) -> Entropy { stretch("client of \(thumbprint)") }

    private func stretch(_ label: String) -> Entropy {
        guard whole.isSeeded else { return whole }
        return stretches.withLock { stretches in
            if let known = stretches[label] { return known }
            let stretch = whole.derived(label)
            stretches[label] = stretch
            return stretch
        }
    }

    /// Begins every stretch anew: for a world in which nothing is left of what was drawn before.
    func rewind() { stretches.withLock { $0 = [:] } }
}
