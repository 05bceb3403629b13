import Crypto
public import Device
import Encoding
import Store

/// Devices.
extension Engine {
    /// Makes a device with an install key of its own, and a face of its own or that of another device's holder.
    ///
    /// Throws `.deviceExists`, `.invalid` where there is no device whose face to take, or `.storage`.
    public func createDevice(
        _ id: DeviceID, platform: Platform = .ios, clock: DeviceClock = .real, camera: Camera = Camera(),
        faceOf other: DeviceID? = nil, attestation: AttestationSettings = AttestationSettings()
    ) throws(EngineError) -> VirtualDevice {
        try world.solitude.check()
        try attestation.check(on: platform)
        let moment = world.clock.now()
        let entropy = world.draws[id]
        let handle = KeyHandle(rawValue: "dpop-" + entropy.token(9))
        let face = try other.map { (other) throws(EngineError) in try self.face(of: other) } ?? newFace(entropy)
        let key = try storing { () throws(CryptoError) in try P256.PrivateKey.generate(entropy) }
        let stored = StoredKey(handle: handle, purpose: .dpop, scalar: try scalar(of: key), createdAt: moment)
        let device = VirtualDevice(
            id: id, platform: platform, clock: clock, camera: camera, face: face, installKey: handle,
            attestation: attestation, createdAt: moment)
        let created = try storing {
            try world.store.write { store in
                guard try store.device(id) == nil else { return false }
                try store.insert(device)
                try store.insert(stored, for: id)
                return true
            }
        }
        guard created else { throw .deviceExists(id.rawValue) }
        return device
    }

    private func newFace(_ entropy: Entropy) -> Face {
        guard let face = Face(secret: entropy.bytes(Face.secretLength)) else {
            preconditionFailure("entropy gives as many bytes as it is asked for")
        }
        return face
    }

    private func face(of other: DeviceID) throws(EngineError) -> Face {
        let found = try storing { try world.store.read { store in try store.device(other) } }
        guard let found else {
            throw .invalid(field: "face_of", rule: "the id of a device there is", value: other.rawValue)
        }
        return found.face
    }

    /// A device with its enrolments and its session.
    public func device(_ id: DeviceID) async throws(EngineError) -> DeviceView {
        try await actor(id).deviceView()
    }

    /// At most `limit` devices by id, after one named.
    public func devices(limit: Int, after: DeviceID?) throws(EngineError) -> [VirtualDevice] {
        try storing {
            try world.store.read { store in try store.devices(limit: limit, after: after) }
        }
    }

    /// Changes a device's clock or camera.
    public func updateDevice(
        _ id: DeviceID, _ change: @escaping @Sendable (inout VirtualDevice) throws(EngineError) -> Void
    ) async throws(EngineError) -> DeviceView {
        let actor = try actor(id)
        try await actor.update(change)
        return try await actor.deviceView()
    }

    /// Wipes a device: its flows are cancelled, and its keys, enrolments and session are gone.
    public func deleteDevice(_ id: DeviceID) async throws(EngineError) {
        let actor = try actor(id)
        await actor.cancelAll()
        world.secrets.wipe(of: id)
        try storing { _ = try world.store.write { store in try store.deleteDevice(id) } }
        registry.forget(id)
        world.assertions.forget(id)
        world.attested.forget(id)
    }
}
