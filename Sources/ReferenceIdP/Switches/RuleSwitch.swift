/// A rule of the reference IdP that can be switched off, tenant by tenant, so that a conformance test can be seen to fail.
///
/// The raw value is stable and, where a finding names the same rule, the finding's name. A rule that is off is not
/// applied: the request goes on as if it had held.
public enum RuleSwitch: String, Sendable, Hashable, CaseIterable {
    // Proofs.
    /// A request that needs a DPoP proof has one.
    case proofPresent = "dpop.header.missing"
    /// A request has one proof, not several.
    case proofSingle = "dpop.header.count"
    /// The parts of a proof are base64url without padding.
    case proofEncoding = "dpop.encoding"
    /// The typ of a proof is dpop+jwt.
    case proofType = "dpop.typ"
    /// The alg of a proof is an asymmetric one that fits its key.
    case proofAlgorithm = "dpop.alg"
    /// The jwk of a proof is a sound public key.
    case proofKey = "dpop.jwk"
    /// The signature of a proof fits, 64 bytes of R and S.
    case proofSignature = "dpop.signature"
    /// Htm is the method of the request.
    case proofMethod = "dpop.htm"
    /// Htu is the URL of the request.
    case proofURL = "dpop.htu"
    /// Another spelling of the same URL is accepted.
    case proofURLNormalization = "dpop.htu.normalization"
    /// Iat is a plausible number of seconds.
    case proofTimeForm = "dpop.claim.iat"
    /// A proof is not old.
    case proofNotOld = "dpop.iat.old"
    /// A proof is not from the future.
    case proofNotAhead = "dpop.iat.future"
    /// Jti is there and of a sane length.
    case proofIdentifier = "dpop.claim.jti"
    /// A proof is good once.
    case proofOnce = "dpop.jti.replayed"
    /// Ath is the hash of the access token.
    case proofTokenHash = "dpop.ath"
    /// Completion, token and refresh need a nonce.
    case noncePresent = "dpop.nonce.missing"
    /// A nonce is one this server gave of late.
    case nonceFresh = "dpop.nonce.stale"
    // What every answer and request keeps to.
    /// A refused proof uses up no code.
    case proofBeforeUse = "order.proof_first"
    /// Use_dpop_nonce brings one DPoP-Nonce.
    case answerNonce = "answer.dpop_nonce"
    /// Answers are not to be stored.
    case answerNoStore = "answer.no_store"
    /// Unreadable input is the caller's fault, never a 5xx.
    case answerMalformed = "answer.malformed"
    /// No parameter comes twice.
    case formRepeated = "request.repeated"
    // Clients.
    /// The client is one of the tenant's.
    case clientKnown = "client.known"
    /// The tenant runs its own app.
    case clientTenantApp = "client.tenant_app"
    /// The application has in-app sign-in allowed.
    case clientOptIn = "client.opt_in"
    /// A confidential client brings an assertion.
    case assertionMissing = "client.assertion.missing"
    /// A public client brings none.
    case assertionUnexpected = "client.assertion.unexpected"
    /// Client_assertion_type is that of a JWT.
    case assertionType = "client.assertion.type"
    /// The assertion is ES256 or PS256.
    case assertionAlgorithm = "client.assertion.alg"
    /// The assertion names a registered key.
    case assertionKey = "client.assertion.kid"
    /// The assertion is signed by the client's key.
    case assertionSignature = "client.assertion.signature"
    /// Iss is the client.
    case assertionIssuer = "client.assertion.iss"
    /// Sub is the client.
    case assertionSubject = "client.assertion.sub"
    /// Aud is the issuer, as a string.
    case assertionAudience = "client.assertion.aud"
    /// The assertion is in time and not good for long.
    case assertionExpiry = "client.assertion.exp"
    /// Iat is not far ahead.
    case assertionIssuedAt = "client.assertion.iat"
    /// Nbf is not far ahead.
    case assertionNotBefore = "client.assertion.nbf"
    /// An assertion is good once.
    case assertionOnce = "client.assertion.jti"
    // Registration.
    /// The typ of an enrolment is its own.
    case enrollType = "enroll.typ"
    /// An enrolment is ES256.
    case enrollAlgorithm = "enroll.alg"
    /// An enrolment is signed by the key that is enrolled.
    case enrollSignature = "enroll.signature"
    /// Aud is the issuer.
    case enrollAudience = "enroll.aud"
    /// Act is enroll.
    case enrollAct = "enroll.act"
    /// Tkt is the hash of the ticket.
    case enrollTicketHash = "enroll.tkt"
    /// Fth is the hash of face_token.
    case enrollFaceToken = "enroll.fth"
    /// Platform is one there is.
    case enrollPlatform = "enroll.platform"
    /// Iat is not old and not ahead.
    case enrollTime = "enroll.iat"
    /// The ticket is one of the tenant's.
    case enrollTicket = "enroll.ticket"
    /// A ticket is good once.
    case enrollOnce = "enroll.once"
    /// The code is the one that was mailed to the address.
    case enrollCode = "enroll.code"
    /// The key is nobody else's.
    case enrollKey = "enroll.key"
    /// The tenant has self-signup.
    case signupSwitch = "signup.switch"
    /// A sign-up looks the same whoever the address names.
    case signupDecoy = "signup.decoy"
    // Starts.
    /// Dpop_jkt names the key of the proof.
    case startAnnouncedKey = "start.dpop_jkt"
    /// A start brings an S256 code challenge.
    case startCodeChallenge = "start.code_challenge"
    /// Scopes are those of the application.
    case startScope = "start.scope"
    /// A resource is one of the application.
    case startResource = "start.resource"
    /// 30 starts an hour for an address.
    case startAddressLimit = "start.address_limit"
    /// A start looks the same whoever the hint names.
    case startDecoy = "start.decoy"
    /// Under enforce a start and an enrolment bring evidence.
    case attestationEvidence = "attestation.evidence"
    /// Evidence is for a challenge of this server, and not for an old one.
    case attestationChallenge = "attestation.challenge"
    /// A chain of certificates ends at a root the tenant trusts.
    case attestationRoot = "attestation.chain.root"
    /// Evidence is good once.
    case attestationReplay = "attestation.replay"
    /// Evidence is bound to the request it comes with.
    case attestationBinding = "attestation.nonce"
    /// An App Attest key belongs to one install.
    case attestationInstall = "attestation.install"
    // Ceremony calls.
    /// The typ of a ceremony request is its own.
    case ceremonyType = "ceremony.typ"
    /// A ceremony request is ES256.
    case ceremonyAlgorithm = "ceremony.alg"
    /// Act is that of the call.
    case ceremonyAct = "ceremony.act"
    /// Aud is the issuer.
    case ceremonyAudience = "ceremony.aud"
    /// Ash names a session.
    case ceremonySession = "ceremony.session"
    /// Iat is between the session's start and now.
    case ceremonyTime = "ceremony.iat"
    /// The key is an enrolled one.
    case ceremonyKey = "ceremony.key"
    /// The signature is of the device key.
    case ceremonySignature = "ceremony.signature"
    /// Cer is the session's ceremony.
    case ceremonyID = "ceremony.cer"
    /// Chl is the session's challenge.
    case ceremonyChallenge = "ceremony.chl"
    /// Jkt is the DPoP key of the session.
    case ceremonyProofKey = "ceremony.jkt"
    /// A session serves the device that fetched first.
    case ceremonyDevice = "ceremony.device"
    /// A session serves the user its hint named, a decoy nobody.
    case ceremonyUser = "ceremony.user"
    /// The user may sign in.
    case ceremonyAccess = "ceremony.access"
    /// Every refusal of a ceremony is the same.
    case ceremonyUniform = "ceremony.uniform"
    /// A new report has a new number.
    case attemptNumber = "attempt.n"
    /// The same report again is not counted twice.
    case attemptRepeat = "attempt.repeat"
    /// The third mismatch ends the session.
    case attemptBudget = "attempt.budget"
    // Sessions.
    /// An aborted or completed session takes no more requests.
    case sessionLive = "session.live"
    /// A session past its lifetime is over.
    case sessionLifetime = "session.lifetime"
    /// A session from before a withdrawal is over.
    case sessionPermit = "session.permit"
    // Completions.
    /// Auth_session is one of the tenant's.
    case completionSession = "completion.session"
    /// The client is the one that opened the session.
    case completionClient = "completion.client"
    /// The DPoP key is the one that opened the session.
    case completionProofKey = "completion.dpop_key"
    /// A completed session takes the same proof only.
    case completionRepeat = "completion.repeat"
    /// The proof is of the device the session is bound to.
    case completionKey = "completion.kid"
    /// Cer is the session's ceremony.
    case completionCeremony = "completion.cer"
    /// Chl is the session's challenge.
    case completionChallenge = "completion.chl"
    /// Ash is the hash of auth_session.
    case completionHandle = "completion.ash"
    /// Jkt is the DPoP key of the session.
    case completionJKT = "completion.jkt"
    /// Fth is the hash of face_token.
    case completionFaceToken = "completion.fth"
    /// Iat is between the session's start and now.
    case completionTime = "completion.iat"
    /// The proof is signed by the device key.
    case completionSignature = "completion.signature"
    /// Gen is the current generation.
    case completionGeneration = "completion.generation"
    /// The device is still enrolled.
    case completionDevice = "completion.device"
    /// The user may still sign in.
    case completionAccess = "completion.access"
    /// The same proof again gives the same code.
    case completionSameCode = "completion.same_code"
    /// The same proof gives a replacement for a redeemed code.
    case completionReplacement = "completion.replacement"
    /// A replacement revokes what the earlier code issued.
    case completionReplacementRevokes = "completion.replacement_revokes"
    /// At most three replacements a session.
    case completionReplacements = "completion.replacements"
    // Codes.
    /// The code is one of the tenant's.
    case codeKnown = "code.known"
    /// A code is good once.
    case codeOnce = "code.once"
    /// A second use of a code revokes what it issued.
    case codeReuseRevokes = "code.reuse_revokes"
    /// The code was given to this client.
    case codeClient = "code.client"
    /// The DPoP key is the one of the session.
    case codeProofKey = "code.dpop_key"
    /// A withdrawn code is dead.
    case codeLive = "code.live"
    /// A code from before a withdrawal is dead.
    case codePermit = "code.permit"
    /// A code is redeemed in time.
    case codeLifetime = "code.lifetime"
    /// Code_verifier is that of the code challenge.
    case codeVerifier = "code.verifier"
    /// The user may still sign in.
    case codeAccess = "code.access"
    // Refreshing.
    /// The refresh token is one of the tenant's.
    case refreshKnown = "refresh.known"
    /// The refresh token was given to this client.
    case refreshClient = "refresh.client"
    /// A public client refreshes with the key of the grant.
    case refreshProofKey = "refresh.dpop_key"
    /// A rotated refresh token is good once.
    case refreshOnce = "refresh.once"
    /// A spent refresh token ends its family.
    case refreshReuseRevokes = "refresh.reuse_revokes"
    /// The user may still sign in.
    case refreshAccess = "refresh.access"
    /// A refresh asks for no more scope than was granted.
    case refreshScope = "refresh.scope"
    /// A refresh asks for the resource that was granted.
    case refreshResource = "refresh.resource"
    // The resource API.
    /// A request of the API has a token.
    case apiToken = "api.authorization"
    /// A bound token is not taken as Bearer.
    case apiScheme = "api.scheme"
    /// An access token is signed by the IdP.
    case tokenSignature = "access_token.signature"
    /// An access token is for this API.
    case tokenAudience = "access_token.aud"
    /// An access token is in time.
    case tokenExpiry = "access_token.exp"
    /// A revoked token is refused.
    case tokenRevoked = "access_token.revoked"
    /// The proof is by the key of cnf.jkt.
    case tokenProofKey = "access_token.cnf"
}
