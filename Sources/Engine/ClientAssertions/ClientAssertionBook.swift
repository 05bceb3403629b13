import Device
import Synchronization

/// Which provider speaks for which client on which device.
///
/// A provider comes with a flow, or is registered for a device, or, when the process is launched, for a client on all
/// devices. It lives in memory alone: none outlives the process. Source: SenseCrypt description, "Register the
/// provider at launch".
final class ClientAssertionBook: Sendable {
    /// A provider and the client it was registered for; nil for any.
    struct Registration: Sendable {
        let clientID: String?
        let provider: any ClientAssertionProvider
    }

    private enum Slot: Sendable {
        case registered(Registration)
        /// A public flow cleared what the launch had registered.
        case cleared
    }

    private struct Contents: Sendable {
        var slots: [DeviceID: Slot] = [:]
        var flows: [FlowID: any ClientAssertionProvider] = [:]
    }

    private let launch: Mutex<[String: any ClientAssertionProvider]> = Mutex([:])
    private let contents = Mutex(Contents())

    /// Registers a provider for a client on every device, as apps do when they are launched.
    func launch(_ provider: any ClientAssertionProvider, for clientID: String) {
        launch.withLock { $0[clientID] = provider }
    }

    /// Registers a device's provider in place of any other.
    func register(_ registration: Registration, on device: DeviceID) {
        contents.withLock { $0.slots[device] = .registered(registration) }
    }

    /// Forgets a device's provider, the one of the launch included.
    func clear(_ device: DeviceID) { contents.withLock { $0.slots[device] = .cleared } }

    /// A flow begins: with a provider of its own, which stays the device's, or with that of the launch.
    ///
    /// A flow with neither is a public client's, and clears what was registered.
    func begin(_ flow: FlowID, of clientID: String, on device: DeviceID, with own: (any ClientAssertionProvider)?) {
        let launched = launch.withLock { $0[clientID] }
        let hasLaunched = launch.withLock { !$0.isEmpty }
        contents.withLock { contents in
            contents.flows[flow] = own ?? launched
            if let own {
                contents.slots[device] = .registered(Registration(clientID: clientID, provider: own))
            } else {
                contents.slots[device] = launched == nil && hasLaunched ? .cleared : nil
            }
        }
    }

    /// A flow is over and needs nothing more.
    func end(_ flow: FlowID) { contents.withLock { $0.flows[flow] = nil } }

    /// A device's process has ended: what was registered for it, and for its flows, is gone; what the launch registers
    /// is there again at the next.
    func end(_ flows: [FlowID], of device: DeviceID) {
        contents.withLock { contents in
            contents.slots[device] = nil
            for flow in flows { contents.flows[flow] = nil }
        }
    }

    /// Forgets a device that was wiped.
    func forget(_ device: DeviceID) { contents.withLock { $0.slots[device] = nil } }

    /// Forgets every device; what the launch registered stays.
    func forgetAll() { contents.withLock { $0 = Contents() } }

    /// Who speaks for a client in a flow: its own provider, or, for one taken up from the store, the device's.
    func provider(of flow: FlowID, for clientID: String, on device: DeviceID) -> (any ClientAssertionProvider)? {
        contents.withLock { $0.flows[flow] } ?? provider(for: clientID, on: device)
    }

    /// Who speaks for a client on a device outside of any flow.
    func provider(for clientID: String, on device: DeviceID) -> (any ClientAssertionProvider)? {
        switch contents.withLock({ $0.slots[device] }) {
        case .registered(let registration):
            guard registration.clientID == nil || registration.clientID == clientID else { return nil }
            return registration.provider
        case .cleared: return nil
        case nil: return launch.withLock { $0[clientID] }
        }
    }

    /// What is registered for a device, to be shown.
    func registration(on device: DeviceID) -> Registration? {
        guard case .registered(let registration) = contents.withLock({ $0.slots[device] }) else { return nil }
        return registration
    }
}
