import Crypto
import Device
import Encoding
import JOSE
import SignIn
import Store

/// What happens to a phone, as far as its one owner in this process has to do something.
extension DeviceActor {
    /// Withdraws the keys that are bound to the faces the platform knew; returns how many were usable.
    func withdrawKeysOfFaces() throws(EngineError) -> Int {
        let (id, purposes) = (id, device.platform.keysEndedByNewFace)
        let withdrawn = try storing {
            try world.store.write { store in
                try purposes.reduce(0) { count, purpose in
                    try count + store.invalidateKeys(of: id, purpose: purpose)
                }
            }
        }
        deviceKeys = [:]
        if purposes.contains(.dpop) { installKeyInvalidated = true }
        return withdrawn
    }

    /// Changes what holds of the phone until somebody undoes it.
    func change(by event: LifeEvent) throws(EngineError) {
        var changed = condition
        switch event {
        case .offline, .online: changed.isOffline = event == .offline
        case .lockout, .unlock: changed.isLockedOut = event == .lockout
        default: preconditionFailure("a condition is changed by these four")
        }
        guard changed != condition else { throw .outOfPlace(event: event.rawValue, why: event.already) }
        let (id, stored) = (id, changed)
        try storing { try world.store.write { store in try store.setCondition(stored, of: id) } }
        condition = changed
    }

    /// Writes down what a copy of the device should have.
    func saveBeforeCopy() { saveNonces() }
}

extension LifeEvent {
    /// Why a condition is not changed by it.
    fileprivate var already: String {
        switch self {
        case .offline: "the phone is offline"
        case .online: "the phone is online"
        case .lockout: "face recognition is locked already"
        case .unlock: "face recognition is not locked"
        default: ""
        }
    }
}

/// A new install key in the place of one that was withdrawn, made when a user is enrolled again.
struct InstallRenewal: Sendable {
    let device: VirtualDevice
    let key: P256.PrivateKey
    let stored: StoredKey
}

extension DeviceActor {
    /// Makes the key; nothing is changed yet.
    func renewedInstall(at moment: Instant) throws(EngineError) -> InstallRenewal {
        let key = try storing { () throws(CryptoError) in try P256.PrivateKey.generate(entropy) }
        let handle = KeyHandle(rawValue: "dpop-" + entropy.token(9))
        var renewed = device
        renewed.installKey = handle
        return InstallRenewal(
            device: renewed, key: key,
            stored: StoredKey(handle: handle, purpose: .dpop, scalar: try scalar(of: key), createdAt: moment))
    }

    /// Uses the key from here on, once it is stored.
    func adopt(_ renewal: InstallRenewal) {
        device.installKey = renewal.device.installKey
        installKey = renewal.key
        installThumbprint = JWK.p256(renewal.key.publicKey).thumbprint
        installKeyInvalidated = false
    }
}

extension StoreWriter {
    /// Puts a new install key in the place of a withdrawn one; a session bound to that one has ended.
    func renewInstall(as device: VirtualDevice, key: StoredKey) throws(StoreError) {
        if let known = try self.device(device.id) { try deleteKey(known.installKey, of: device.id) }
        try insert(key, for: device.id)
        try update(device)
        _ = try deleteSession(of: device.id)
    }
}
