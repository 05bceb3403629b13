extension SenseCryptProfile {
    /// Values of the outcome in a signed device request.
    public struct Outcomes: Sendable, Hashable, Codable {
        /// Of a completion.
        public let match: String
        /// Of a mismatch report.
        public let mismatch: String
    }

    /// Values of the platform in an enrolment request.
    public struct Platforms: Sendable, Hashable, Codable {
        /// An iPhone.
        public let ios: String
        /// An Android phone.
        public let android: String
    }

    /// What the claims of a signed device request are called, besides `aud`, `iat` and `jti`.
    public struct Claims: Sendable, Hashable, Codable {
        /// What the request is for.
        public let act: String
        /// The ceremony's id.
        public let ceremony: String
        /// The ceremony's challenge.
        public let challenge: String
        /// The hash of `auth_session`.
        public let authSessionHash: String
        /// The thumbprint of the install's DPoP key.
        public let installThumbprint: String
        /// What the scan came to, in a mismatch report and a completion.
        public let outcome: String
        /// The number of a mismatch.
        public let number: String
        /// The generation of the face token that was fetched, in a completion.
        public let generation: String
        /// The hash of the sealed face token, in a completion and an enrolment.
        public let faceTokenHash: String
        /// Why a session is aborted.
        public let reason: String
        /// The hash of the ticket or code, in an enrolment.
        public let ticketHash: String
        /// What the phone claims to be, in an enrolment.
        public let platform: String
    }

    /// What the members of requests and answers are called, as far as no standard names them.
    ///
    /// One type is one object of the wire.
    public struct Members: Sendable, Hashable, Codable {
        /// The metadata document.
        public let metadata: Metadata
        /// The form of the authorization challenge endpoint.
        public let challengeForm: ChallengeForm
        /// The answer to a start.
        public let startAnswer: StartAnswer
        /// The ceremony in that answer.
        public let ceremony: CeremonyObject
        /// The body of a face-token fetch, a mismatch report and an abort.
        public let ceremonyRequest: CeremonyRequest
        /// The answer to a face-token fetch.
        public let faceTokenAnswer: FaceTokenAnswer
        /// What the tenant offers of Face PKI, in that answer.
        public let pki: PKIObject
        /// The answer to a mismatch report.
        public let attemptAnswer: AttemptAnswer
        /// The body of a request for a mailed code.
        public let signup: Signup
        /// The body of an enrolment.
        public let enrollment: Enrollment
        /// The answer to an enrolment.
        public let enrollmentAnswer: EnrollmentAnswer
    }
}

extension SenseCryptProfile.Members {
    /// The metadata document.
    public struct Metadata: Sendable, Hashable, Codable {
        /// What the ceremony calls are built on.
        public let deviceCeremonyEndpoint: String
    }

    /// The form of the authorization challenge endpoint.
    public struct ChallengeForm: Sendable, Hashable, Codable {
        /// Evidence about the calling app, with a start.
        public let attestation: String
        /// The signed ceremony, with a completion.
        public let ceremonyProof: String
        /// The rotated face token, with a completion.
        public let faceToken: String
    }

    /// The answer to a start.
    public struct StartAnswer: Sendable, Hashable, Codable {
        /// The ceremony.
        public let ceremony: String
    }

    /// The ceremony in the answer to a start.
    public struct CeremonyObject: Sendable, Hashable, Codable {
        /// Its id.
        public let id: String
        /// Its challenge.
        public let challenge: String
    }

    /// The body of a face-token fetch, a mismatch report and an abort.
    public struct CeremonyRequest: Sendable, Hashable, Codable {
        /// The signed request.
        public let request: String
    }

    /// The answer to a face-token fetch.
    public struct FaceTokenAnswer: Sendable, Hashable, Codable {
        /// The sealed face token.
        public let faceToken: String
        /// Its generation.
        public let generation: String
        /// Whether a password is needed as well.
        public let passwordProtected: String
        /// Whether scans need a live face.
        public let livenessRequired: String
        /// How many mismatches the session still has.
        public let attemptsLeft: String
        /// What the tenant offers of Face PKI.
        public let pki: String
    }

    /// What a tenant offers of Face PKI.
    public struct PKIObject: Sendable, Hashable, Codable {
        /// Whether it offers any.
        public let enabled: String
        /// Whether the application may use the keys of the tenant.
        public let tenantScope: String
        /// The classes of keys.
        public let classes: String
    }

    /// The answer to a mismatch report.
    public struct AttemptAnswer: Sendable, Hashable, Codable {
        /// How many mismatches the session still has.
        public let attemptsLeft: String
    }

    /// The body of a request for a mailed code.
    public struct Signup: Sendable, Hashable, Codable {
        /// The address.
        public let email: String
    }

    /// The body of an enrolment.
    public struct Enrollment: Sendable, Hashable, Codable {
        /// A ticket.
        public let ticket: String
        /// In place of a ticket, an address.
        public let email: String
        /// The code that was mailed there.
        public let code: String
        /// The signed request.
        public let enrollment: String
        /// The sealed face token.
        public let faceToken: String
        /// Evidence about the calling app.
        public let attestation: String
    }

    /// The answer to an enrolment.
    public struct EnrollmentAnswer: Sendable, Hashable, Codable {
        /// The user's `sub`.
        public let subject: String
        /// The user's address.
        public let email: String
        /// The thumbprint of the device key.
        public let kid: String
        /// The generation of the face token the device begins with.
        public let generation: String
    }
}

extension SenseCryptProfile.Members {
    /// The names of members whose values are secrets, wherever they stand.
    public var secretNames: Set<String> {
        [
            challengeForm.attestation, challengeForm.ceremonyProof, challengeForm.faceToken, ceremonyRequest.request,
            faceTokenAnswer.faceToken, enrollment.ticket, enrollment.code, enrollment.enrollment, enrollment.faceToken,
            enrollment.attestation,
        ]
    }
}
