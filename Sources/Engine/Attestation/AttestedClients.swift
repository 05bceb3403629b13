import Device
import OAuth
import Synchronization

/// Which flows and devices authenticate a client by attestation, and who attests: in memory alone.
///
/// What must outlive the process is in ``ClientInstance``.
final class AttestedClients: Sendable {
    private struct Name: Hashable {
        let device: DeviceID
        let issuer: String
        let clientID: String
    }

    private struct Contents {
        var flows: [FlowID: ClientAttestationOrder] = [:]
        var attesters: [Name: ClientAttestationOrder.Attester] = [:]
        var lastProofs: [Name: String] = [:]
    }

    private let contents = Mutex(Contents())

    /// A flow begins that authenticates by attestation.
    func begin(
        _ flow: FlowID, _ order: ClientAttestationOrder, of clientID: String, at issuer: String, on device: DeviceID
    ) {
        contents.withLock {
            $0.flows[flow] = order
            $0.attesters[Name(device: device, issuer: issuer, clientID: clientID)] = order.attester
        }
    }

    /// A flow is over and needs nothing more.
    func end(_ flow: FlowID) { contents.withLock { $0.flows[flow] = nil } }

    /// How a flow of this process authenticates.
    func order(of flow: FlowID) -> ClientAttestationOrder? { contents.withLock { $0.flows[flow] } }

    /// Who attests a client on a device; nil where this process was not told.
    func attester(of clientID: String, at issuer: String, on device: DeviceID) -> ClientAttestationOrder.Attester? {
        contents.withLock { $0.attesters[Name(device: device, issuer: issuer, clientID: clientID)] }
    }

    /// The proof of the call before, to be sent again on purpose, and this call's kept in its place.
    func lastProof(
        of clientID: String, at issuer: String, on device: DeviceID, replacedBy proof: String
    ) -> String? {
        contents.withLock {
            let name = Name(device: device, issuer: issuer, clientID: clientID)
            let last = $0.lastProofs[name]
            $0.lastProofs[name] = proof
            return last
        }
    }

    /// Forgets a device that was wiped.
    func forget(_ device: DeviceID) {
        contents.withLock { contents in
            contents.attesters = contents.attesters.filter { $0.key.device != device }
            contents.lastProofs = contents.lastProofs.filter { $0.key.device != device }
        }
    }
}
