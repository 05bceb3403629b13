package import Crypto
package import Device
package import Encoding
package import HTTP
package import OAuth
package import Profiles
package import Transport

/// What a prober of servers needs of the engine: the same network, the same keys, no flows.
extension Engine {
    /// The keys and the face of a phone, the address of its newest enrolment at an issuer, and what it is.
    ///
    /// For use within this process alone. Throws `.noSuchDevice`, `.invalid` where the phone is not enrolled at the
    /// issuer or a key is invalidated.
    package func probing(_ device: DeviceID, issuer: String) async throws(EngineError) -> ProbingParts {
        try await actor(device).probing(issuer: issuer)
    }

    /// Sends one request as it is, under the engine's rules about hosts.
    package func exchange(_ request: ClientRequest) async throws(EngineError) -> HTTPResponse {
        try await world.network.send(request)
    }

    /// The metadata of an issuer, fetched now: what a server said earlier is not what it is judged by.
    package func metadata(of issuer: String) async throws(EngineError) -> ServerMetadata {
        try await world.serverMetadata(of: issuer, in: MetadataCache())
    }

    /// The present, chance, and the words of the wire, as the engine's phones have them.
    package var surroundings: (now: Instant, entropy: Entropy, profile: SenseCryptProfile) {
        (world.clock.now(), world.entropy, world.profile)
    }
}

/// A phone as a prober takes it.
package struct ProbingParts: Sendable {
    /// The key of the install, which signs DPoP proofs.
    package let installKey: P256.PrivateKey
    /// The key of the enrolment.
    package let deviceKey: P256.PrivateKey
    /// The face that opens its face token.
    package let face: Face
    /// Whom it is enrolled for.
    package let email: String
    /// What phone it is.
    package let platform: Platform
    /// What its platform says of it and its app.
    package let attestation: AttestationSettings
}

extension DeviceActor {
    fileprivate func probing(issuer: String) throws(EngineError) -> ProbingParts {
        let enrolment = try storedEnrolments().last { $0.issuer == issuer }
        guard let enrolment, let key = deviceKey(enrolment.kid), !installKeyInvalidated else {
            throw .invalid(
                field: "device", rule: "a phone enrolled at the issuer, with its keys", value: id.rawValue)
        }
        return ProbingParts(
            installKey: installKey, deviceKey: key, face: device.face, email: enrolment.email,
            platform: device.platform, attestation: device.attestation)
    }
}
