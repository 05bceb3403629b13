internal import Device
internal import Encoding

/// Where a flow is, with exactly the data that step needs.
///
/// Each case says which effect it waits for.
///
/// Legal moves go down this list, but for the loops: capture, match, report; and redeem back to complete.
enum Phase: Codable, Sendable, Equatable {
    /// Nothing happened yet; waits for ``Event/start(_:_:)``.
    case idle
    /// Waits for metadata.
    case discovering(Discovering)
    /// Waits for a challenge to make evidence for.
    case challenging(Challenging)
    /// Waits for the evidence about the app.
    case attesting(Attesting)
    /// Waits for the answer to call 1.
    case opening(Opening)
    /// Waits for the signed request of call 2.
    case signingFetch(SigningFetch)
    /// Waits for the answer to call 2.
    case fetching(Fetching)
    /// Waits for the camera.
    case capturing(Capturing)
    /// Waits for the face token to open or not.
    case matching(Matching)
    /// Waits for the key operation to run.
    case operating(Operating)
    /// Waits for the signed report of a mismatch.
    case signingReport(SigningReport)
    /// Waits for the answer to that report.
    case reporting(Reporting)
    /// Waits for the face token to be sealed anew.
    case rotating(Rotating)
    /// Waits for the ceremony proof.
    case signingProof(SigningProof)
    /// Waits for the answer to call 3.
    case completing(Completing)
    /// Waits for the answer to call 4.
    case redeeming(Redeeming)
    /// Waits for the session to be stored.
    case committing(Committing)
    /// Holds the proof and waits for a person.
    case parked(Parked)
    /// Over, well.
    case signedIn(SignedInSummary)
    /// Over, not well; may still wait for the answers to its tidying up.
    case failed(Ended)
}

/// One effect under way that may be repeated.
struct Sending: Codable, Sendable, Equatable {
    /// The effect whose answer is awaited.
    var effect: EffectID
    /// Counts the sends, beginning with 1.
    var attempt = 1
    /// Whether a nonce challenge was already answered for this attempt.
    var nonceAnswered = false
}

/// What is fixed from the start of the flow on.
struct Ground: Codable, Sendable, Equatable {
    /// The thumbprint of the install's DPoP key, which everything is bound to.
    let installThumbprint: String
    let secrets: FlowSecrets
    /// The key that signs this flow's ceremonies.
    let key: CeremonyKey
}

/// The addresses of one server.
struct Endpoints: Codable, Sendable, Equatable {
    let challenge: String
    let token: String
    let revocation: String?
    let faceToken: String
    let attempt: String
    let abort: String
    /// Where challenges for evidence come from, where the server says so.
    let attestationChallenge: String?
}

/// A session opened by call 1.
struct OpenSession: Codable, Sendable, Equatable {
    let ground: Ground
    let endpoints: Endpoints
    /// `auth_session`, a secret.
    let handle: String
    let ceremony: String
    let challenge: String
}

/// What call 2 brought, and how the face check stands.
struct FaceCheck: Codable, Sendable, Equatable {
    /// The mismatches a session allows (SenseCrypt description).
    static let mismatchBudget = 3
    /// The captures without a live face in a row after which the person is taken to have given up, so that a scripted
    /// camera cannot turn forever.
    static let captureLimit = 64

    let session: OpenSession
    /// The sealed face token, base64url.
    let sealed: String
    let generation: UInt32
    /// The key operation to run after the match, where the app asked for one.
    let operation: PKIOperation?
    /// The Face PKI classes whose seeds a rotation adds: those the tenant offers, in a plain sign-in.
    let seedClasses: [FacePKIClass]
    /// The least of our own count and every count the server has answered.
    var attemptsLeft: Int
    var mismatches = 0
    /// All captures so far.
    var captures = 0
    /// The captures in a row that brought no live face.
    var fruitless = 0
}

/// A proven match: what call 3 sends, the same bytes however often.
struct Proof: Codable, Sendable, Equatable {
    let session: OpenSession
    let ceremonyProof: String
    /// The rotated face token, base64url.
    let faceToken: String
    /// What the signed-in app is told of the key operation.
    let pki: SignInPKIResult?
}
