/// What the virtual camera reports for one face scan.
///
/// Its text form is what the command line and the database hold: `match`, `mismatch`, `livenessFailed:photo`,
/// `badCapture:blurred`, `cancel`, `hang`, `lockout`, `notEnrolled`, `unsupported`.
public enum ScanOutcome: Sendable, Hashable {
    /// The enrolled face, alive. Whether it opens the face token is then for the token to say.
    case match
    /// A stranger's face, alive: the face token does not open. Costs one of the three attempts.
    case mismatch
    /// The liveness check failed, for the reason named (`photo`, `mask`). Costs no attempt.
    case livenessFailed(reason: String)
    /// No usable picture. Costs no attempt.
    case badCapture(BadCapture)
    /// The person closed the capture.
    case cancel
    /// The person walked away: no scan ever comes.
    case hang
    /// The platform has locked face recognition after too many failures, and shows no capture.
    case lockout
    /// No face is set up on this phone, and the platform shows no capture.
    case notEnrolled
    /// This phone has nothing to scan faces with.
    case unsupported

    /// The most characters a liveness reason has in the text form.
    public static let longestReason = 64
}

/// Why a capture gave no usable picture.
public enum BadCapture: String, Codable, Sendable, Hashable, CaseIterable {
    /// Nobody was in the picture.
    case noFace
    /// More than one person was.
    case multipleFaces
    /// The picture was not sharp.
    case blurred
    /// The face was too small.
    case tooFar
    /// No face came in time.
    case timeout
}
