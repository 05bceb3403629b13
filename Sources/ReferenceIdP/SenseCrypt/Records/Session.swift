import Encoding

/// A sign-in under way, stored under H(`auth_session`), which is also the `ash` of its ceremony requests.
struct Session: Expiring, Hashable {
    /// Whom the session can sign in.
    enum Subject: Sendable, Hashable {
        /// Started without a hint: the first good ceremony request decides.
        case anyone
        /// This user and no other.
        case user(String)
        /// Nobody, ever: the hint named no one who can sign in. Nothing outside tells it apart.
        case decoy
    }

    /// Where the session is.
    enum Progress: Sendable, Hashable {
        case open
        case completed(Completion)
        /// Ended before its time; the word says by what, for findings.
        case dead(String)
    }

    let key: String
    let clientID: String
    /// The DPoP key that opened it.
    let jkt: String
    let scope: [String]
    let resource: String?
    let nonce: String
    let codeChallenge: String
    let ceremonyID: String
    let ceremonyChallenge: String
    let openedAt: Instant
    let expiresAt: Instant
    /// When the table may forget it: until then a late call hears `invalid_session`.
    let forgottenAt: Instant

    var subject: Subject
    /// The device key the session is bound to, once one has fetched its face token.
    var deviceKey: String?
    /// The counted mismatches, in order: `jti` of the report and its `n`.
    var mismatches: [Mismatch] = []
    var progress = Progress.open
    /// What allowed the session; where the realm's is another by now, the session is over.
    var permit = FirstPartyPermit()
    /// The key of the client's instance that opened it, where the client authenticates by attestation.
    var instance: String?

    /// One counted report of a face that did not match.
    struct Mismatch: Sendable, Hashable {
        let jti: String
        let number: Int
    }

    /// The number of mismatches so far; a lost report counts once a later one arrives.
    var mismatchCount: Int { mismatches.last?.number ?? 0 }

    /// The cause of a session that ended with the last mismatch of its budget.
    static let outOfMismatches = "out of mismatches"

    /// Why nothing may happen here any more, or nil while something may.
    func end(at now: Instant) -> String? {
        if case .dead(let cause) = progress { return cause }
        return now < expiresAt ? nil : "past its lifetime"
    }
}

/// What a completed session remembers in order to answer the same proof again.
struct Completion: Sendable, Hashable {
    /// The hash of the proof that completed it, byte for byte.
    let proofHash: String
    /// The hash of the newest code.
    var codeHash: String
    /// How many replacement codes were given.
    var replacements: Int64 = 0
    /// What the newest redeemed code issued.
    var grantID: String?
    let authTime: Instant
}

/// An authorization code, stored under its hash.
struct AuthorizationCode: Expiring, Hashable {
    /// What has become of it.
    enum Progress: Sendable, Hashable {
        case fresh
        /// Redeemed, for this grant.
        case redeemed(grantID: String)
        /// A replacement was given in its place, or the session was aborted.
        case withdrawn
    }

    let sessionKey: String
    let userID: String
    let clientID: String
    let jkt: String
    let codeChallenge: String
    let scope: [String]
    let resource: String?
    let nonce: String
    let authTime: Instant
    let expiresAt: Instant
    let forgottenAt: Instant
    var progress = Progress.fresh
    /// What allowed its session.
    var permit = FirstPartyPermit()
    /// The key of the client's instance it was given to.
    var instance: String?
}
