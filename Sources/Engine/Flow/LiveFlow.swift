import Crypto
import Device
import Encoding
import SignIn

/// One flow that this process drives: its machine, and what only the edge may hold.
struct LiveFlow {
    let id: FlowID
    let startedAt: Instant
    var machine: FlowMachine
    /// Scan outcomes of this flow alone, next first.
    var script: [ScanOutcome]
    var faults: FaultPlan
    /// It rested in the store before, perhaps left there by another process.
    var isTakenUp = false
    var steps: [Step] = []
    /// How many of `steps` stand in the store's journal.
    var archivedSteps = 0
    /// How many of `steps` the feed has shown.
    var publishedSteps = 0

    /// The effect whose scan is awaited from outside, while the camera hangs.
    var openCapture: EffectID?
    /// What each capture saw; dropped with the flow.
    var samples: [SampleID: Face] = [:]
    /// The contents of the face token between opening and sealing again; never stored.
    var opened: (contents: FaceTokenContents, binding: FaceTokenBinding)?
    /// The thumbprint of the key that signed the last ceremony JWS, and whose it is.
    var ceremonySigner: (signer: SentProof.Signer, thumbprint: String)?
    var throwaway: P256.PrivateKey?
    /// The process ends in the middle of this flow, by a planned fault; whether it is started anew.
    var crashing: Bool?
    /// What is wrong on purpose with this flow's evidence, in place of what the device's settings say.
    var attestationDefect: AttestationDefect?
    /// The evidence of the last start that was sent.
    var sentEvidence: SentEvidence?

    /// More steps than any flow takes; beyond it the oldest are not kept in memory.
    static let stepLimit = 512

    /// Whether the camera waits for a scan from outside.
    var waitsForScan: Bool { openCapture != nil && !machine.state.isTerminal }

    mutating func note(_ step: Step) {
        guard steps.count < Self.stepLimit else { return }
        steps.append(step)
    }
}
