import Device
import Encoding
import OAuth
import Testing

@testable import SignIn

/// A flow standing at each of its steps.
enum Steps {
    struct Sample {
        let flow: SenseCryptSignIn
        /// The effect whose answer is awaited; one that never was where none is.
        let awaited: EffectID
    }

    /// One sample for each step, in the order of a sign-in.
    static func all() throws -> [Sample] {
        var samples = [Sample(flow: SenseCryptSignIn(config: Phone.shared.config), awaited: EffectID(rawValue: 0))]
        samples.append(try at("discover"))
        for name in ["call(attestationChallenge)", "attest"] {
            samples.append(try sample(script(at: name, metadata: Phone.attestingMetadata)))
        }
        for name in [
            "call(start)", "signCeremony(face-token)", "call(faceToken)", "capture", "openFaceToken",
        ] {
            samples.append(try at(name))
        }
        samples.append(try sample(script(at: "runPKI(sign)", config: Phone.shared.signingConfig)))
        var report = try script(at: "openFaceToken")
        try report.send(.faceTokenNotOpened(report.awaited()))
        samples.append(try sample(report))
        try report.send(.ceremonySigned(report.awaited(), jws: "j.w.s"))
        samples.append(try sample(report))
        for name in ["rotateFaceToken", "signCeremony(complete)", "call(completion)", "call(token)", "commit"] {
            samples.append(try at(name))
        }
        var parked = try script(at: "call(completion)")
        try parked.respond(CallResponse(status: 503, mediaType: nil, body: []))
        samples.append(Sample(flow: parked.flow, awaited: EffectID(rawValue: 0)))
        samples.append(try at("done"))
        var cancelled = try script(at: "capture")
        try cancelled.send(.cancel)
        samples.append(try sample(cancelled))
        return samples
    }

    static func script(
        at name: String, config: SignInConfig = Phone.shared.config, metadata: ServerMetadata = Phone.goodMetadata
    ) throws -> Script {
        var script = Script(config: config)
        script.metadata = metadata
        try script.advance(to: name)
        return script
    }

    private static func at(_ name: String) throws -> Sample { try sample(script(at: name)) }

    private static func sample(_ script: Script) throws -> Sample {
        Sample(flow: script.flow, awaited: try script.awaited())
    }

    /// One event of every kind.
    static func everyEvent(about id: EffectID) -> [Event] {
        [
            .start(Phone.shared.facts, Phone.shared.secrets), .discovered(id, Phone.goodMetadata),
            .discoveryFailed(id, .unreachable(detail: "gone")), .responded(id, Replies.html),
            .lost(id, detail: "gone"),
            .attested(id, evidence: Secret.evidence), .attestationUnavailable(id, rule: "no such format"),
            .ceremonySigned(id, jws: "j.w.s"), .keyUnavailable(id),
            .captured(id, .closed), .faceTokenOpened(id), .faceTokenNotOpened(id),
            .faceTokenRotated(id, sealed: Phone.shared.rotated), .faceTokenUnusable(id, rule: "bent"),
            .pkiRan(id, Phone.shared.output), .pkiKeysNotReady(id), .committed(id), .retry, .cancel,
        ]
    }
}
