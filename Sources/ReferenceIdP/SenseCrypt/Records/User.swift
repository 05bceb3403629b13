import Encoding

/// A person the tenant knows.
struct User: Sendable, Hashable {
    /// The `sub` of every token.
    let id: String
    var email: String
    var enabled = true
    /// Client ids of the applications the user may use, or nil for all.
    var applications: [String]?
    let createdAt: Instant
    /// Thumbprints of the enrolled device keys, oldest first.
    var devices: [String] = []
    /// Grants count only while they carry this number: raising it ends all of them at once.
    var grantEpoch: Int64 = 0
    /// Whether all devices of the user hold one face token: what one of them rotates, all of them have.
    ///
    /// Otherwise each device starts one of its own.
    var sharesFaceToken = false
    /// A face token an administrator imported, for the devices yet to be enrolled with a ticket.
    var importedFaceToken: FaceTokenRecord?

    /// Whether the user may sign in to a client at all.
    func maySignIn(to clientID: String) -> Bool {
        enabled && (applications?.contains(clientID) ?? true)
    }
}

/// The sealed face token of a device, as the IdP keeps it: it cannot be opened here.
struct FaceTokenRecord: Sendable, Hashable {
    var sealed: [UInt8]
    /// 1 for the first, then one more with every rotation.
    var generation: Int64
    var passwordProtected: Bool
}

/// A device key of a user, with the face token that goes with it.
struct EnrolledDevice: Sendable, Hashable {
    /// The thumbprint of the key.
    let kid: String
    let userID: String
    /// The public key as an X9.63 point.
    let publicKey: [UInt8]
    let platform: String
    let enrolledAt: Instant
    var faceToken: FaceTokenRecord
}

/// A one-time right to enrol a device, stored under the hash of the ticket.
struct Ticket: Expiring, Hashable {
    let userID: String
    let expiresAt: Instant
    var forgottenAt: Instant { expiresAt }
}

/// A code sent by mail, stored under the address it went to.
struct SignupCode: Expiring, Hashable {
    let email: String
    let codeHash: String
    let expiresAt: Instant
    var forgottenAt: Instant { expiresAt }
}

/// A mail in the inbox that stands in for the network's.
struct Mail: Sendable, Hashable {
    let at: Instant
    let address: String
    let subject: String
    let code: String?
}
