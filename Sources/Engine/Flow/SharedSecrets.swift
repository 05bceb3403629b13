import Crypto
import Device
import Synchronization

/// What became of a shared secret that a flow's key operation gave.
public enum SecretStanding: String, Sendable, Hashable {
    /// It waits to be taken, once.
    case available
    /// It was taken, and nothing of it is left here.
    case taken
    /// This process does not hold it: it is kept in memory alone, and the process that had it has ended.
    case gone
}

/// The shared secrets of flows, in memory alone, each to be taken once.
///
/// Neither the machine nor the store nor the journal ever sees one.
final class SharedSecrets: Sendable {
    /// How many flows are remembered; beyond it the oldest secret is wiped, taken or not.
    static let limit = 4096

    fileprivate struct Entry {
        let flow: FlowID
        let device: DeviceID
        let secret: SecretBytes
    }

    private let entries = Mutex<[Entry]>([])

    /// Keeps a flow's secret, in place of one that an earlier scan of the same flow gave.
    func keep(_ secret: SecretBytes, of flow: FlowID, on device: DeviceID) {
        entries.withLock { entries in
            entries.wipe { $0.flow == flow }
            if entries.count == Self.limit { entries.removeFirst().secret.wipe() }
            entries.append(Entry(flow: flow, device: device, secret: secret))
        }
    }

    /// The secret of a flow, the first time; nil where it was taken or is not held, see ``standing(of:)``.
    func take(of flow: FlowID) -> [UInt8]? { secret(of: flow)?.take() }

    /// What became of a flow's secret.
    func standing(of flow: FlowID) -> SecretStanding {
        guard let secret = secret(of: flow) else { return .gone }
        return secret.isTaken ? .taken : .available
    }

    /// Wipes the secret of a flow that failed: there is nothing to be taken from it.
    func wipe(of flow: FlowID) { entries.withLock { $0.wipe { $0.flow == flow } } }

    /// Wipes the secrets of a device's flows.
    func wipe(of device: DeviceID) { entries.withLock { $0.wipe { $0.device == device } } }

    /// Wipes all of them.
    func wipeAll() { entries.withLock { $0.wipe { _ in true } } }

    private func secret(of flow: FlowID) -> SecretBytes? {
        entries.withLock { entries in entries.last { $0.flow == flow }?.secret }
    }
}

extension [SharedSecrets.Entry] {
    fileprivate mutating func wipe(where isMeant: (Element) -> Bool) {
        for entry in self where isMeant(entry) { entry.secret.wipe() }
        removeAll(where: isMeant)
    }
}
